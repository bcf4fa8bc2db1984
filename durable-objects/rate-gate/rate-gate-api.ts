import type { RateLimits } from "../../src/providers/rate-limits";

/**
 * A call that wants to start. `endpoint`: whatever shares one quota, such as an address, a key's name and a model; nobody reads
 * it. `call`: its id, unique in the tenant and the same each time it asks.
 */
export type RateWish = { endpoint: string; call: string; limits: RateLimits; tokens: number };

/** `wait`: ask again at once, to keep the place; `startsAt` (Unix ms) says when there may be room. `left`: somebody said so meanwhile. */
export type RateAnswer = { type: "start" } | { type: "wait"; startsAt: number } | { type: "left" };

/** What a tenant's rate gate can be asked. Each call may come again after a lost answer, and then changes nothing more. */
export type RateGateApi = {
  /** Waits for room, for `holdMs` at most, and never longer than `HOLD_MS`. */
  start(wish: RateWish, holdMs?: number): Promise<RateAnswer>;
  /** The call is not to be made any more, or was never sent. */
  leave(endpoint: string, call: string): Promise<void>;
  /** The call has ended, with so many tokens, input and output. */
  settle(endpoint: string, call: string, tokens: number): Promise<void>;
};

/** Long enough that few ask twice, short enough that a lost connection is soon found. */
export const HOLD_MS = 20_000;
