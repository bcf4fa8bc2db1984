import type { RateLimits } from "../../src/providers/rate-limits";

/**
 * A call that wants to start. `endpoint`: an opaque name of one quota, such as address, key hash
 * and model. `call`: an id that is unique in the tenant and the same in each repetition. `tokens`:
 * the expected input and output tokens.
 */
export type RateRequest = { endpoint: string; call: string; limits: RateLimits; tokens: number };

/**
 * The gate's answer. `wait`: the caller must ask again at once to keep its place in the queue;
 * `startsAt` (unix ms) estimates when the call may start. `left`: `leave` removed the call
 * meanwhile.
 */
export type RateAnswer = { type: "start" } | { type: "wait"; startsAt: number } | { type: "left" };

/**
 * The RPC methods of a tenant's rate gate. Each call is idempotent, so that it can be repeated if
 * its answer was lost.
 */
export type RateGateApi = {
  /** Waits until the call may start, at most `holdMs` and at most `HOLD_MS`. */
  start(request: RateRequest, holdMs?: number): Promise<RateAnswer>;
  /** Removes a call that is cancelled or was never sent. */
  leave(endpoint: string, call: string): Promise<void>;
  /** Records that a call has ended. `tokens`: the input and output tokens that it used. */
  settle(endpoint: string, call: string, tokens: number): Promise<void>;
};

/**
 * Longest time that the gate holds one request before it answers `wait`. Long holds make
 * repetitions rare; short holds detect lost connections soon.
 */
export const HOLD_MS = 20_000;
