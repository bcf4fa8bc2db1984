/**
 * What follows when the start of a queued turn is refused. Limits of the tenant pass: the request
 * waits for them. Another turn of the session may have started first: the request waits for its
 * end. Any other refusal is about the request itself: its turn fails.
 */
export type AfterRefusal = { type: "wait" } | { type: "retry"; at: number } | { type: "fail" };

/** `tries`: earlier tries of the request. `resetsAt`: unix ms at which the tenant's day ends. */
type Refusal = { code: string; tries: number; now: number; resetsAt: number };

const FIRST_WAIT_MS = 1_000;
/** A place becomes free whenever another turn of the tenant ends. */
const LONGEST_PLACE_WAIT_MS = 60_000;
/** Also before the day ends: reserved money is released, and operators raise limits. */
const LONGEST_SPEND_WAIT_MS = 600_000;
const LONGEST_ERROR_WAIT_MS = 60_000;

/** Decides what follows when the start of a queued turn is refused. */
export function afterRefusal({ code, tries, now, resetsAt }: Refusal): AfterRefusal {
  switch (code) {
    case "turn_running":
      return { type: "wait" };
    case "session_not_found": // The session is being erased. If that fails, the queue continues.
      return { type: "retry", at: afterError(tries, now) };
    case "quota_exceeded":
      return { type: "retry", at: now + waitMs(tries, LONGEST_PLACE_WAIT_MS) };
    case "spend_exceeded":
      return { type: "retry", at: Math.min(now + waitMs(tries, LONGEST_SPEND_WAIT_MS), resetsAt) };
    default:
      return { type: "fail" };
  }
}

/** When a start is tried again that failed because a part of the service did not answer. */
export const afterError = (tries: number, now: number): number =>
  now + waitMs(tries, LONGEST_ERROR_WAIT_MS);

/** One second at first, doubled after each try. */
const waitMs = (tries: number, longest: number): number =>
  Math.min(longest, FIRST_WAIT_MS * 2 ** Math.min(tries, 20));
