import type { RateLimits } from "../../src/providers/rate-limits";

/**
 * A call that wants to start. `endpoint`: an opaque name of one quota, such as address, key hash
 * and model. `call`: an id that is unique in the tenant and the same in each repetition.
 */
export type RateRequest = { endpoint: string; call: string; limits: RateLimits; tokens: number };

/**
 * `wait`: ask again at once to keep the place in the queue; `startsAt` (unix ms) estimates when
 * there is room. `left`: the call was removed by `leave` meanwhile.
 */
export type RateAnswer = { type: "start" } | { type: "wait"; startsAt: number } | { type: "left" };

/**
 * The RPC methods of a tenant's rate gate. Each call is idempotent, so that it can be repeated if
 * its answer was lost.
 */
export type RateGateApi = {
  /** Waits for room, at most `holdMs` and at most `HOLD_MS`. */
  start(request: RateRequest, holdMs?: number): Promise<RateAnswer>;
  /** Removes a call that is cancelled or was never sent. */
  leave(endpoint: string, call: string): Promise<void>;
  /** Records that a call has ended. `tokens`: input and output. */
  settle(endpoint: string, call: string, tokens: number): Promise<void>;
};

/**
 * How long one request is held. Long holds make repetitions rare; short holds detect lost
 * connections soon.
 */
export const HOLD_MS = 20_000;
