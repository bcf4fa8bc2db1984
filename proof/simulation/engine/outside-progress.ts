import type { NumberedEvent } from "../../../checker";
import { isTerminal } from "../../../src/protocol/events";
import type { OutsideCheck } from "./outside";
import type { ReceivedRequest } from "./providers";

/** Maximum pause of a run after the last fault, in ms. */
const MAX_PAUSE_MS = 60_000;

/**
 * I13: every turn ends. After the last fault, the log grows at least every minute; waiting times
 * for retries are added.
 */
export const i13Progress: OutsideCheck = ({ stuck, log, faults, startedAt, grew, platform }) => {
  if (stuck !== null) return [stuck];
  const last = Math.max(startedAt, ...faults.struck.map(({ at, until }) => Math.max(at, until)));
  const jumps = faults.struck.filter(({ fault }) => fault.startsWith("clock_")).map(({ at }) => at);
  const underWay = platform.providers.reached.filter(({ sentAt }) => sentAt <= last);
  const from = Math.max(last, ...underWay.map((request) => waitEndsAt(request, jumps)));
  const moments = [
    { at: from, head: grew.findLast(({ at }) => at <= from)?.head ?? 0 },
    ...grew.filter(({ at }) => at > from),
  ];
  return moments.flatMap(({ at, head }, nth) => {
    const pause = (moments[nth + 1]?.at ?? at) - at;
    if (pause <= MAX_PAUSE_MS) return [];
    return pause <= MAX_PAUSE_MS + retryPending(log, head)
      ? []
      : [`no event for ${pause} ms after #${head} and the last fault`];
  });
};

/**
 * Maximum waiting times for a model, in ms: for headers, for the next chunk,
 * and in total.
 */
const HEADERS_MS = 120_000;
const SILENCE_MS = 90_000;
const WHOLE_CALL_MS = 14 * 60_000;

/**
 * Until when a request that was open at the last fault may still be waited for. A change of the
 * clock hides the time of the last chunk, so the silence limit may apply twice.
 */
function waitEndsAt(
  { sentAt, headersAt, chunkAt, endedAt }: ReceivedRequest,
  jumps: readonly number[],
): number {
  const end = endedAt ?? sentAt;
  const silenceMs = jumps.some((at) => at >= sentAt && at <= end) ? 2 * SILENCE_MS : SILENCE_MS;
  const silentUntil = headersAt === null ? sentAt + HEADERS_MS : (chunkAt ?? headersAt) + silenceMs;
  return Math.min(end, silentUntil, sentAt + WHOLE_CALL_MS);
}

/**
 * The longest pending delay in ms, for a retry or a rate limit, if the log ends at `head`; 0 if
 * none.
 */
function retryPending(log: readonly NumberedEvent[], head: number): number {
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
