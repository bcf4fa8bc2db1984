import type { EventOf } from "../../../src/protocol/events";
import { agentOf, type Board } from "./board";
import { type Invariant, type NumberedEvent, unless } from "./types";

/** Tries follow their class: what is tried again, when, how often, and what a lost call means for its round. */
export const tries: Invariant = {
  id: "tries",
  watch: () => ({
    see: ({ event, board, next }) => {
      if (event.type === "call.started") return started(event, board);
      if (event.type === "call.failed") return [...again(event, board), ...lost(event, next)];
      return [];
    },
  }),
};

function started(event: EventOf<"call.started">, board: Board): string[] {
  const round = agentOf(board, event.agent)?.round;
  const last = round?.last;
  if (last?.type !== "call.failed") return unless(event.try === 1, `a fresh call begins with try ${event.try}`);
  const due = last.retry_at ?? Number.POSITIVE_INFINITY;
  return [
    ...unless(
      event.at >= due,
      last.retry_at === null ? "a lost call was tried again" : `tried again ${due - event.at} ms too early`,
    ),
    ...unless(event.try === (round?.counted ?? 0) + 1, `try ${event.try} after ${round?.counted ?? 0} counted failures`),
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
        ...unless(wait === null || failures < 5, "more than 5 tries of a call"),
        ...unless(wait === null || (wait > 0 && wait <= 60_000), `a new try after ${wait} ms`),
      ];
    case "interrupted":
      return unless(
        (wait !== null) === cuts < 5,
        `after ${cuts} interruptions the call is ${wait === null ? "lost" : "tried again"}`,
      );
    case "context_too_long":
      return unless(wait === null || wait === 0, `a call that was too long is made again after ${wait} ms`);
    default:
      if (board.openCalls.get(event.call)?.compacts)
        return unless(wait === null || wait === 0, `after ${wait} ms without a summary`);
      return unless(wait === null, `a call that failed with ${event.class} is tried again`);
  }
}

/** A call that is not tried again costs its round, its agent, or the presentation; the next event says which. */
function lost(event: EventOf<"call.failed">, next: NumberedEvent | undefined): string[] {
  if (event.retry_at !== null || event.class === "cancelled") return [];
  const then = next?.type ?? "nothing";
  return unless(CONSEQUENCES.includes(then), `a lost call is followed by ${then}`);
}

const CONSEQUENCES: readonly string[] = [
  "round.failed",
  "agent.failed",
  "personas.assigned",
  "presentation.completed",
  "turn.completed",
  "turn.failed",
];

/** Three failed rounds in a row fail an agent, two do not; a bad key or an unknown model fails it at once. */
export const failures: Invariant = {
  id: "failures",
  watch: () => {
    let last: NumberedEvent | null = null;
    return {
      see: ({ event, board, next }) => {
        const before = last;
        if (event.type !== "stream.delta") last = event;
        if (event.type === "round.failed") return thirdRound(event, { board, next });
        if (event.type === "call.failed" && FATAL.includes(event.class)) return fatal(event, { board, next });
        if (event.type !== "agent.failed" && event.type !== "agent.abstained") return [];
        const agent = agentOf(board, event.agent);
        const had = (agent?.answers ?? 0) > 0;
        return [
          ...unless(agent?.out === null, `${event.agent} went out twice`),
          ...unless(event.type === "agent.failed" || had, "an agent without an answer abstained"),
          ...unless(
            event.type === "agent.abstained" || !had || isLoss(before, event.agent),
            "an agent with an answer failed without a loss",
          ),
        ];
      },
    };
  },
};

const FATAL: readonly string[] = ["bad_credentials", "unknown_model"];

const isLoss = (before: NumberedEvent | null, agent: string): boolean =>
  (before?.type === "round.failed" || before?.type === "call.failed") && before.agent === agent;

type Around = { board: Board; next: NumberedEvent | undefined };

function thirdRound(event: EventOf<"round.failed">, { board, next }: Around): string[] {
  const lostSoFar = (agentOf(board, event.agent)?.failedInARow ?? 0) + 1;
  const fails = next?.type === "agent.failed" && next.agent === event.agent;
  return [
    ...unless(lostSoFar <= 3, "more than 3 failed rounds in a row"),
    ...unless(lostSoFar < 3 || fails, "3 failed rounds in a row, and the agent goes on"),
    ...unless(lostSoFar >= 3 || !fails, `the agent failed after ${lostSoFar} lost rounds`),
  ];
}

function fatal(event: EventOf<"call.failed">, { board, next }: Around): string[] {
  const coordinating = agentOf(board, event.agent)?.round?.purpose === "coordination";
  return unless(!coordinating || next?.type === "agent.failed", `after ${event.class} the agent goes on`);
}
