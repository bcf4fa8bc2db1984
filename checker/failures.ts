import type { EventOf, Purpose } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent } from "./board";
import { type Invariant, type Moment, type NumberedEvent, unless } from "./types";

/** Longest delay of a provider that is obeyed. */
const MAX_DELAY_MS = 60_000;
const MAX_TRIES = 5;

/**
 * Retries follow the failure class: which calls are retried, when, how often, and the consequence
 * for the round.
 */
export const tries: Invariant = {
  id: "tries",
  watch: ({ waitsAsked }) => ({
    see: ({ event, board, next }) => {
      if (event.type === "call.started") return started(event, board);
      if (event.type !== "call.failed") return [];
      const isHeeded =
        event.class === "transient" && event.code !== UNREACHABLE && waitsAsked !== undefined;
      return [
        ...again(event, board),
        ...lost(event, { board, next }),
        ...(isHeeded ? delayViolations(event, board, waitsAsked.get(event.call) ?? 0) : []),
      ];
    },
  }),
};

function started(event: EventOf<"call.started">, board: Board): string[] {
  const round = agentOf(board, event.agent)?.round;
  const last = round?.last;
  if (last?.type !== "call.failed")
    return unless(event.try === 1, `a new call starts with try ${event.try}`);
  const due = last.retry_at ?? Number.POSITIVE_INFINITY;
  return [
    ...unless(
      event.at >= due,
      last.retry_at === null ? "a lost call was retried" : `retried ${due - event.at} ms too early`,
    ),
    ...unless(
      event.try === (round?.counted ?? 0) + 1,
      `try ${event.try} after ${round?.counted ?? 0} counted failures`,
    ),
  ];
}

function again(event: EventOf<"call.failed">, board: Board): string[] {
  const round = agentOf(board, event.agent)?.round;
  const failures = (round?.counted ?? 0) + 1;
  const cuts = (round?.interrupted ?? 0) + 1;
  const wait = event.retry_at === null ? null : event.retry_at - event.at;
  switch (event.class) {
    case "transient":
      return [
        ...unless(wait === null || failures < MAX_TRIES, `more than ${MAX_TRIES} tries of a call`),
        ...unless(wait === null || (wait > 0 && wait <= MAX_DELAY_MS), `a retry after ${wait} ms`),
      ];
    case "interrupted":
      return unless(
        (wait !== null) === cuts < 5,
        `after ${cuts} interruptions the call is ${wait === null ? "lost" : "retried"}`,
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
 * A transient failure is retried while tries are left, not before the provider's delay, and not if
 * that delay is too long.
 */
function delayViolations(event: EventOf<"call.failed">, board: Board, askedMs: number): string[] {
  const round = agentOf(board, event.agent)?.round;
  const isDueAgain = (round?.counted ?? 0) + 1 < MAX_TRIES && askedMs <= MAX_DELAY_MS;
  if (event.retry_at === null) {
    const mayBeGivenUp = round?.purpose !== "coordination" && round?.purpose !== "presentation";
    return unless(!isDueAgain || mayBeGivenUp, "a call was not retried although tries are left");
  }
  return [
    ...unless(askedMs <= MAX_DELAY_MS, `retried although its provider asked for ${askedMs} ms`),
    ...unless(
      event.retry_at - event.at >= askedMs || !isDueAgain,
      `retried sooner than the ${askedMs} ms its provider asked for`,
    ),
  ];
}

/**
 * A call that is not retried costs its round, its agent, or the presentation; the next event shows
 * which.
 */
function lost(event: EventOf<"call.failed">, { board, next }: EventContext): string[] {
  const purpose = agentOf(board, event.agent)?.round?.purpose;
  if (event.retry_at !== null || event.class === "cancelled" || purpose === undefined) return [];
  const then = leftBy(event, next) === null ? (next?.type ?? "nothing") : "agent.failed";
  return unless(
    CONSEQUENCES[purpose].includes(then),
    `a lost call of ${purpose} is followed by ${then}`,
  );
}

const CONSEQUENCES: Readonly<Record<Purpose, readonly string[]>> = {
  coordination: ["round.failed", "agent.failed"],
  presentation: ["presentation.completed", "turn.completed", "turn.failed"],
  judgement: ["turn.completed"],
  personas: ["personas.assigned"],
};

/**
 * Three failed rounds in a row fail an agent, two do not. A bad key, an unknown model or a bad
 * first request fails it at once.
 */
export const failures: Invariant = {
  id: "failures",
  watch: () => {
    /** The agent that is about to fail, while its partial text becomes its answer. */
    let failing: string | null = null;
    return {
      see: (moment) => {
        const { event, next } = moment;
        const isBetween =
          event.type === "answer.submitted" ||
          event.type === "votes.cleared" ||
          event.type === "stream.delta";
        const isKept =
          isBetween ||
          failing === null ||
          (event.type === "agent.failed" && event.agent === failing);
        const wrong = unless(
          isKept,
          `${failing} did not fail although its partial text became its answer for that reason`,
        );
        if (!isBetween)
          failing =
            event.type === "call.failed" || event.type === "round.failed"
              ? leftBy(event, next)
              : null;
        return [...wrong, ...lostOf(moment)];
      },
    };
  },
};

/** The agent whose partial text becomes its answer right after this event and because of it. */
const leftBy = (
  event: EventOf<"call.failed" | "round.failed">,
  next: NumberedEvent | undefined,
): string | null =>
  next?.type === "answer.submitted" &&
  next.origin === "partial" &&
  next.agent === event.agent &&
  isLoss(event)
    ? event.agent
    : null;

/** A call that is retried or was cancelled is not a loss: its round then ended by a limit. */
const isLoss = (event: EventOf<"call.failed" | "round.failed">): boolean =>
  event.type === "round.failed" || (event.class !== "cancelled" && event.retry_at === null);

/**
 * Whether the agent fails right after this event, possibly after its partial text became its
 * answer.
 */
const failsNext = (
  event: EventOf<"call.failed" | "round.failed">,
  next: NumberedEvent | undefined,
): boolean =>
  (next?.type === "agent.failed" && next.agent === event.agent) || leftBy(event, next) !== null;

function lostOf({ event, board, next }: Moment): string[] {
  switch (event.type) {
    case "round.failed":
      return failedRoundViolations(event, { board, next });
    case "call.failed":
      return fatal(event, { board, next });
    case "agent.failed":
    case "agent.abstained": {
      const agent = agentOf(board, event.agent);
      const mayLeave = event.type === "agent.failed" || (agent?.answers ?? 0) > 0;
      return [
        ...unless(agent?.out === null, `${event.agent} dropped out twice`),
        ...unless(mayLeave, "an agent without an answer abstained"),
      ];
    }
    default:
      return [];
  }
}

const PROBES = 3;
const PROBED_FOR_MS = 10_000;
/** Probes are counted within a call and its retries: a presentation is a round, too. */
const RESETS_PROBES: ReadonlySet<string> = new Set([
  "call.completed",
  "round.started",
  "presentation.started",
]);

/**
 * Failed probes are not charged. The third one, at least 10 s after the first, ends the agent's
 * part; none before does.
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
        const ends = count + 1 >= PROBES && event.at - since >= PROBED_FOR_MS;
        const isCoordinating = agentOf(board, event.agent)?.round?.purpose === "coordination";
        const fails = event.retry_at === null && failsNext(event, next);
        return [
          ...unless(
            event.tokens === 0 && event.cost_usd === 0,
            `${event.call} was charged although nothing was sent`,
          ),
          ...unless(
            !ends || event.retry_at === null,
            `${count + 1} probes failed, but another is made`,
          ),
          ...unless(
            !ends || !isCoordinating || fails,
            `${count + 1} probes failed, but the agent continues`,
          ),
          ...unless(ends || !fails, `the agent failed after ${count + 1} failed probes`),
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
  const lostSoFar = (agentOf(board, event.agent)?.failedInARow ?? 0) + 1;
  const fails = failsNext(event, next);
  return [
    ...unless(lostSoFar <= 3, "more than 3 failed rounds in a row"),
    ...unless(lostSoFar < 3 || fails, "3 failed rounds in a row, but the agent continues"),
    ...unless(lostSoFar >= 3 || !fails, `the agent failed after ${lostSoFar} failed rounds`),
  ];
}

/**
 * The consequence of a failed call: the agent if another round cannot help, else at most the round.
 */
function fatal(event: EventOf<"call.failed">, { board, next }: EventContext): string[] {
  const agent = agentOf(board, event.agent);
  if (agent?.round?.purpose !== "coordination" || board.openCalls.get(event.call)?.compacts)
    return [];
  const fails = failsNext(event, next);
  const isBadRequest = event.class === "bad_request";
  const must = FATAL.includes(event.class) || (isBadRequest && isFirstCall(agent));
  const may =
    must ||
    event.code === UNREACHABLE ||
    (isBadRequest && agent.repliesSoFar === 0) ||
    event.class === "cancelled" ||
    event.retry_at !== null;
  return [
    ...unless(!must || fails, `after ${event.class} the agent continues`),
    ...unless(may || !fails, `the agent failed for ${event.class}, which costs only the round`),
  ];
}

/**
 * Whether the agent made no other call in this attempt, including personas; retries of the same
 * call do not count.
 */
function isFirstCall({ repliesSoFar, round }: BoardAgent): boolean {
  const before = round?.last?.type === "call.failed" ? round.last.class : null;
  return (
    round?.number === 1 &&
    repliesSoFar === 0 &&
    (before === null || before === "transient" || before === "interrupted")
  );
}
