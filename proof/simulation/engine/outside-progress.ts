import type { NumberedEvent } from "../../../checker";
import { isTerminal } from "../../../src/protocol/events";
import type { OutsideCheck } from "./outside";
import type { ReceivedRequest } from "./received-request";

/** Maximum time between two events of a run after the last fault. */
const MAX_PAUSE_MS = 60_000;
/**
 * Maximum time between two tries to settle a turn with the tenant. A queued turn starts only after
 * the settlement of the turn before it.
 */
const MAX_SETTLEMENT_MS = 600_000;

/** Why a run was ended whose queue was wrong. The check of the queue reports the problem. */
export const WRONG_QUEUE = "ended because its queue was wrong";

/**
 * I13: every turn ends. After the last fault, the log grows at least every minute. The pause may be
 * longer by the pending delay of a retry or a rate limit.
 */
export const i13Progress: OutsideCheck = ({ stuck, log, faults, startedAt, grew, platform }) => {
  if (stuck === WRONG_QUEUE) return [];
  if (stuck !== null) return [stuck];
  const lastFaultAt = Math.max(
    startedAt,
    ...faults.struck.map(({ at, until }) => Math.max(at, until)),
  );
  const clockChanges = faults.struck
    .filter(({ fault }) => fault.startsWith("clock_"))
    .map(({ at }) => at);
  const earlierRequests = platform.providers.received.filter(({ sentAt }) => sentAt <= lastFaultAt);
  const waitEnds = earlierRequests.map((request) => waitEndsAt(request, clockChanges));
  const from = Math.max(lastFaultAt, ...waitEnds);
  const growth = [
    { at: from, head: grew.findLast(({ at }) => at <= from)?.head ?? 0 },
    ...grew.filter(({ at }) => at > from),
  ];
  const isTenantLost = faults.struck.some(({ fault }) => fault.startsWith("tenant_"));
  return growth.flatMap(({ at, head }, nth) => {
    const pause = (growth[nth + 1]?.at ?? at) - at;
    if (pause <= MAX_PAUSE_MS) return [];
    const settlementMs = isTenantLost && isEnded(log, head) ? MAX_SETTLEMENT_MS : 0;
    return pause <= MAX_PAUSE_MS + pendingDelayMs(log, head) + settlementMs
      ? []
      : [`no event for ${pause} ms after #${head} and the last fault`];
  });
};

/** Whether no turn runs at this head of the log. */
const isEnded = (log: readonly NumberedEvent[], head: number): boolean =>
  log.some((event) => event.sequence_number === head && isTerminal(event.type));

/** How long the service waits for a model: for headers, for the next chunk, and in total. */
const HEADERS_MS = 120_000;
const SILENCE_MS = 90_000;
const WHOLE_CALL_MS = 14 * 60_000;

/**
 * The latest time until which the service waits for a request that was open at the last fault.
 * After a change of the clock the service does not know the time of the last chunk, so the silence
 * limit may apply twice.
 */
function waitEndsAt(
  { sentAt, headersAt, chunkAt, endedAt }: ReceivedRequest,
  clockChanges: readonly number[],
): number {
  const end = endedAt ?? sentAt;
  const silenceMs = clockChanges.some((at) => at >= sentAt && at <= end)
    ? 2 * SILENCE_MS
    : SILENCE_MS;
  const silentUntil = headersAt === null ? sentAt + HEADERS_MS : (chunkAt ?? headersAt) + silenceMs;
  return Math.min(end, silentUntil, sentAt + WHOLE_CALL_MS);
}

/** The longest pending delay for a retry or a rate limit at this head of the log; 0 if none. */
function pendingDelayMs(log: readonly NumberedEvent[], head: number): number {
  const pending = new Map<string, number>();
  for (const event of log) {
    if (event.sequence_number > head) break;
    if (event.type === "attempt.settled" || isTerminal(event.type)) pending.clear();
    if (event.type === "call.failed" && event.retry_at !== null)
      pending.set(event.agent, event.retry_at - event.at);
    else if (event.type === "call.waiting") pending.set(event.agent, event.until - event.at);
    else if (ENDS_WAIT.has(event.type) && "agent" in event) pending.delete(event.agent);
  }
  return Math.max(0, ...pending.values());
}

const ENDS_WAIT: ReadonlySet<string> = new Set([
  "call.started",
  "round.failed",
  "agent.failed",
  "answer.submitted",
]);
