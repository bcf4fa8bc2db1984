import type { EventOf, Purpose } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent } from "./board";
import { earliestRetry, isGivenUp } from "./failing-members";
import { type Invariant, type Moment, type NumberedEvent, unless } from "./types";

/** The longest delay that a provider may ask for. A call with a longer delay is not retried. */
const MAX_DELAY_MS = 60_000;
const MAX_TRIES = 5;

/**
 * The class of a failure decides whether a call is retried, when, and how often. It also decides
 * what happens to the round of a call that is not retried.
 */
export const retries: Invariant = {
  id: "tries",
  watch: ({ waitsAsked }) => ({
    see: ({ event, board, next }) => {
      if (event.type === "call.started") return tryViolations(event, board);
      if (event.type !== "call.failed") return [];
      const delayIsKnown =
        event.class === "transient" && event.code !== UNREACHABLE && waitsAsked !== undefined;
      return [
        ...retryViolations(event, board),
        ...lossViolations(event, { board, next }),
        ...(delayIsKnown ? delayViolations(event, board, waitsAsked.get(event.call) ?? 0) : []),
      ];
    },
  }),
};

/** A new call starts with try 1. A retry starts when it is due, with the next number. */
function tryViolations(event: EventOf<"call.started">, board: Board): string[] {
  const agent = agentOf(board, event.agent);
  const round = agent?.round;
  const last = round?.lastCallEnd;
  if (last?.type !== "call.failed")
    return unless(event.try === 1, `a new call starts with try ${event.try}`);
  const retryAt = agent ? earliestRetry(board, agent) : 0;
  return [
    ...unless(
      event.at >= retryAt,
      last.retry_at === null
        ? "a lost call was retried"
        : `retried ${retryAt - event.at} ms too early`,
    ),
    ...unless(
      event.try === (round?.failedTries ?? 0) + 1,
      `try ${event.try} after ${round?.failedTries ?? 0} counted failures`,
    ),
  ];
}

/** Whether the failure may be retried, and after which time. */
function retryViolations(event: EventOf<"call.failed">, board: Board): string[] {
  const round = agentOf(board, event.agent)?.round;
  const failures = (round?.failedTries ?? 0) + 1;
  const interruptions = (round?.interruptions ?? 0) + 1;
  const wait = event.retry_at === null ? null : event.retry_at - event.at;
  switch (event.class) {
    case "transient":
      return [
        ...unless(wait === null || failures < MAX_TRIES, `more than ${MAX_TRIES} tries of a call`),
        ...unless(wait === null || (wait > 0 && wait <= MAX_DELAY_MS), `a retry after ${wait} ms`),
      ];
    case "interrupted":
      return unless(
        (wait !== null) === interruptions < 5,
        `after ${interruptions} interruptions the call is ${wait === null ? "lost" : "retried"}`,
      );
    case "context_too_long":
      return unless(
        wait === null || wait === 0,
        `a call that was too long is retried after ${wait} ms`,
      );
    default:
      if (board.openCalls.get(event.call)?.compacts)
        return unless(wait === null || wait === 0, `retried ${wait} ms after a failed compaction`);
      return unless(wait === null, `a call that failed with ${event.class} is retried`);
  }
}

/**
 * A transient failure is retried while tries are left. The retry waits for the provider's delay. If
 * this delay is too long, there is no retry. `askedMs`: the provider's delay.
 */
function delayViolations(event: EventOf<"call.failed">, board: Board, askedMs: number): string[] {
  const round = agentOf(board, event.agent)?.round;
  const mustRetry = (round?.failedTries ?? 0) + 1 < MAX_TRIES && askedMs <= MAX_DELAY_MS;
  if (event.retry_at === null) {
    const isOptionalCall = round?.purpose !== "coordination" && round?.purpose !== "presentation";
    return unless(!mustRetry || isOptionalCall, "a call was not retried although tries are left");
  }
  return [
    ...unless(askedMs <= MAX_DELAY_MS, `retried although its provider asked for ${askedMs} ms`),
    ...unless(
      event.retry_at - event.at >= askedMs || !mustRetry,
      `retried sooner than the ${askedMs} ms its provider asked for`,
    ),
  ];
}

/**
 * If a call is not retried, its round, its agent, or the presentation fails. The next event shows
 * which of these failed.
 */
function lossViolations(event: EventOf<"call.failed">, { board, next }: EventContext): string[] {
  const purpose = agentOf(board, event.agent)?.round?.purpose;
  if (event.retry_at !== null || event.class === "cancelled" || purpose === undefined) return [];
  const consequence = savedAgent(event, next) === null ? (next?.type ?? "nothing") : "agent.failed";
  return unless(
    CONSEQUENCES[purpose].includes(consequence),
    `a lost call of ${purpose} is followed by ${consequence}`,
  );
}

const CONSEQUENCES: Readonly<Record<Purpose, readonly string[]>> = {
  coordination: ["round.failed", "agent.failed"],
  presentation: ["presentation.completed", "turn.completed", "turn.failed"],
  judgement: ["turn.completed"],
  personas: ["personas.assigned"],
  summary: ["history.cut", "turn.failed"],
};

/**
 * An agent fails after three failed rounds in a row. It fails at once for a bad key, an unknown
 * model or a bad first request.
 */
export const failures: Invariant = {
  id: "failures",
  watch: () => {
    /** The agent that must fail next, because its partial text became its answer. */
    let failing: string | null = null;
    return {
      see: (moment) => {
        const { event, next } = moment;
        const isBeforeFailure =
          event.type === "answer.submitted" ||
          event.type === "votes.cleared" ||
          event.type === "stream.delta";
        const failsAsExpected =
          isBeforeFailure ||
          failing === null ||
          (event.type === "agent.failed" && event.agent === failing);
        const violations = unless(
          failsAsExpected,
          `${failing} did not fail although its partial text became its answer for that reason`,
        );
        if (!isBeforeFailure)
          failing =
            event.type === "call.failed" || event.type === "round.failed"
              ? savedAgent(event, next)
              : null;
        return [...violations, ...failureViolations(moment)];
      },
    };
  },
};

/** The agent of the event if the event makes its partial text its answer; else `null`. */
const savedAgent = (
  event: EventOf<"call.failed" | "round.failed">,
  next: NumberedEvent | undefined,
): string | null =>
  next?.type === "answer.submitted" &&
  next.origin === "partial" &&
  next.agent === event.agent &&
  isLoss(event)
    ? event.agent
    : null;

/** Whether a call or a round is lost. A retried or cancelled call is not lost. */
const isLoss = (event: EventOf<"call.failed" | "round.failed">): boolean =>
  event.type === "round.failed" || (event.class !== "cancelled" && event.retry_at === null);

/**
 * Whether the agent fails right after this event. In between, its partial text may become its
 * answer.
 */
const failsNext = (
  event: EventOf<"call.failed" | "round.failed">,
  next: NumberedEvent | undefined,
): boolean =>
  (next?.type === "agent.failed" && next.agent === event.agent) || savedAgent(event, next) !== null;

function failureViolations({ event, board, next }: Moment): string[] {
  switch (event.type) {
    case "round.failed":
      return failedRoundViolations(event, { board, next });
    case "call.failed":
      return failedCallViolations(event, { board, next });
    case "agent.failed":
    case "agent.abstained": {
      const agent = agentOf(board, event.agent);
      const mayDropOut = event.type === "agent.failed" || (agent?.answers ?? 0) > 0;
      return [
        ...unless(agent?.out === null, `${event.agent} dropped out twice`),
        ...unless(mayDropOut, "an agent without an answer abstained"),
      ];
    }
    default:
      return [];
  }
}

/** The agent fails after this many failed probes, but not before this time. */
const PROBES = 3;
const MIN_PROBING_MS = 10_000;
/** Events that reset the number of probes: it counts only the tries of one call. */
const RESETS_PROBES: ReadonlySet<string> = new Set([
  "call.completed",
  "round.started",
  "presentation.started",
]);

/**
 * A probe is a try of a call at a provider that cannot be reached. Failed probes are not charged.
 * The agent fails with the third or a later probe, if this probe is at least 10 s after the first.
 */
export const probes: Invariant = {
  id: "probes",
  watch: () => {
    const failed = new Map<string, { since: number; count: number }>();
    return {
      see: ({ event, board, next }) => {
        if (RESETS_PROBES.has(event.type) && "agent" in event) failed.delete(event.agent);
        if (event.type !== "call.failed") return [];
        const { since, count } = failed.get(event.agent) ?? { since: event.at, count: 0 };
        failed.delete(event.agent);
        if (event.code !== UNREACHABLE) return [];
        failed.set(event.agent, { since, count: count + 1 });
        const mustFail = count + 1 >= PROBES && event.at - since >= MIN_PROBING_MS;
        const isCoordinating = agentOf(board, event.agent)?.round?.purpose === "coordination";
        const fails = event.retry_at === null && failsNext(event, next);
        return [
          ...unless(
            event.tokens === 0 && event.cost_usd === 0,
            `${event.call} was charged although nothing was sent`,
          ),
          ...unless(
            !mustFail || event.retry_at === null,
            `${count + 1} probes failed, but another is made`,
          ),
          ...unless(
            !mustFail || !isCoordinating || fails,
            `${count + 1} probes failed, but the agent continues`,
          ),
          ...unless(mustFail || !fails, `the agent failed after ${count + 1} failed probes`),
        ];
      },
    };
  },
};

const UNREACHABLE = "cannot_reach";
const FATAL: readonly string[] = ["bad_credentials", "unknown_model"];

type EventContext = { board: Board; next: NumberedEvent | undefined };

function failedRoundViolations(
  event: EventOf<"round.failed">,
  { board, next }: EventContext,
): string[] {
  const agent = agentOf(board, event.agent);
  const failedRounds = (agent?.consecutiveFailedRounds ?? 0) + 1;
  const fails = failsNext(event, next);
  const mayFail = failedRounds >= 3 || (agent && isGivenUp(board, agent, event.at));
  return [
    ...unless(failedRounds <= 3, "more than 3 failed rounds in a row"),
    ...unless(failedRounds < 3 || fails, "3 failed rounds in a row, but the agent continues"),
    ...unless(mayFail || !fails, `the agent failed after ${failedRounds} failed rounds`),
  ];
}

/**
 * The agent fails with its call if another round cannot help. Otherwise, at most its round fails.
 */
function failedCallViolations(
  event: EventOf<"call.failed">,
  { board, next }: EventContext,
): string[] {
  const agent = agentOf(board, event.agent);
  if (agent?.round?.purpose !== "coordination" || board.openCalls.get(event.call)?.compacts)
    return [];
  const fails = failsNext(event, next);
  const isBadRequest = event.class === "bad_request";
  const mustFail = FATAL.includes(event.class) || (isBadRequest && isFirstCall(agent));
  const mayFail =
    mustFail ||
    event.code === UNREACHABLE ||
    (isBadRequest && agent.completedCalls === 0) ||
    event.class === "cancelled" ||
    event.retry_at !== null;
  return [
    ...unless(!mustFail || fails, `after ${event.class} the agent continues`),
    ...unless(mayFail || !fails, `the agent failed for ${event.class}, which costs only the round`),
  ];
}

/**
 * Whether this is the agent's first call in the attempt, including calls for personas. Retries of
 * the same call do not count.
 */
function isFirstCall({ completedCalls, round }: BoardAgent): boolean {
  const before = round?.lastCallEnd?.type === "call.failed" ? round.lastCallEnd.class : null;
  return (
    round?.number === 1 &&
    completedCalls === 0 &&
    (before === null || before === "transient" || before === "interrupted")
  );
}
