import {
  agentOf,
  answerOf,
  type Board,
  type BoardAgent,
  graceEnd,
  liveOf,
  newestAnswers,
  unseenBy,
} from "./board";
import { type Invariant, type Moment, type NumberedEvent, unless } from "./types";

/** I22: an agent without an answer in this attempt sees no answer of it. */
export const firstAnswer: Invariant = {
  id: "I22",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "round.started" && event.type !== "answers.injected") return [];
      const agent = agentOf(board, event.agent);
      if (!agent || agent.answers > 0) return [];
      return unless(
        event.type === "round.started" && event.labels.length === 0,
        "an agent without an answer was shown one",
      );
    },
  }),
};

/**
 * I7: other agents' events do not disturb an agent without an answer: its round is not restarted,
 * cut or failed because of them.
 */
export const undisturbed: Invariant = {
  id: "I7",
  watch: () => {
    let before: NumberedEvent | null = null;
    /** When a call of such an agent was abandoned; its round has then ended, too. */
    const cut = new Map<string, number>();
    return {
      see: ({ event, board }) => {
        if (event.type === "stream.delta") return [];
        const wrong = [...continuesAfterCut(cut, event), ...disturbed({ event, board }, before)];
        if (ENDS_ALL.has(event.type)) cut.clear();
        if ("agent" in event && ENDS_WORK.has(event.type)) cut.delete(event.agent);
        if (
          event.type === "call.failed" &&
          event.class === "cancelled" &&
          isFirst(board, event.agent)
        )
          cut.set(event.agent, event.at);
        before = event;
        return wrong;
      },
    };
  },
};

const ENDS_ALL: ReadonlySet<string> = new Set([
  "attempt.settled",
  "turn.completed",
  "turn.failed",
  "turn.cancelled",
]);
const ENDS_WORK: ReadonlySet<string> = new Set([
  "answer.submitted",
  "round.failed",
  "agent.failed",
  "agent.abstained",
]);

function isFirst(board: Board, id: string): boolean {
  const agent = agentOf(board, id);
  return agent?.answers === 0 && agent.round?.purpose === "coordination";
}

function continuesAfterCut(cut: Map<string, number>, event: NumberedEvent): string[] {
  return [...cut].flatMap(([agent, at]) => {
    const isOver = event.at === at && !(event.type === "call.started" && event.agent === agent);
    if (!isOver) cut.delete(agent);
    return unless(isOver, `${agent} was cut in its first round but continues`);
  });
}

function disturbed(
  { event, board }: Pick<Moment, "event" | "board">,
  before: NumberedEvent | null,
): string[] {
  if (event.type !== "round.failed" && event.type !== "round.started") return [];
  const agent = agentOf(board, event.agent);
  if (!agent || agent.answers > 0) return [];
  if (event.type === "round.failed") {
    const isOwn = before !== null && "agent" in before && before.agent === event.agent;
    return unless(isOwn, "a first-answer round failed without a preceding event of its agent");
  }
  return [
    ...unless(agent.round === null, "a first-answer round was restarted while it ran"),
    ...unless(
      event.cause === "first" || event.cause === "failed",
      `a first-answer round has the cause ${event.cause}`,
    ),
  ];
}

/** Shown answers exist, are each author's newest, and are complete. */
export const shown: Invariant = {
  id: "shown",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "round.started" && event.type !== "answers.injected") return [];
      const agent = agentOf(board, event.agent);
      if (!agent) return [];
      const news =
        event.type === "answers.injected" ? unseenBy(board, agent) : newestAnswers(board);
      const expected =
        event.type === "round.started" && (event.purpose !== "coordination" || agent.answers === 0)
          ? []
          : news;
      return [
        ...known(board, event.labels),
        ...unless(
          [...event.labels].sort().join() ===
            expected
              .map(({ label }) => label)
              .sort()
              .join(),
          `shown ${event.labels.join(" ")} where ${expected.map(({ label }) => label).join(" ") || "nothing"} was due`,
        ),
      ];
    },
  }),
};

function known(board: Board, labels: readonly string[]): string[] {
  return labels.flatMap((label) => {
    const answer = answerOf(board, label);
    if (!answer) return [`${label} was shown but does not exist`];
    return unless(
      newestAnswers(board).includes(answer),
      `${label} was shown but is not its author's newest`,
    );
  });
}

/** Updates happen at safe points, in the stated form, and no more often than allowed. */
export const injections: Invariant = {
  id: "injections",
  watch: () => {
    let previous: Moment["event"]["type"] | null = null;
    return {
      see: (moment) => {
        const found = injected(moment, previous);
        previous = moment.event.type;
        return found;
      },
    };
  },
};

function injected({ event, board }: Moment, previous: string | null): string[] {
  if (event.type !== "answers.injected") return [];
  const agent = agentOf(board, event.agent);
  if (!agent?.round) return ["an update without an open round"];
  const { round } = agent;
  const most = board.rules?.max_midstream_injections_per_round ?? 0;
  const busy =
    [...board.openCalls.values()].some((call) => call.agent === agent.id) ||
    board.openTools.some((tool) => tool.agent === agent.id && tool.round === event.round);
  return [
    ...unless(event.labels.length > 0, "an update without new answers"),
    ...unless(
      round.number === event.round && round.purpose === "coordination",
      "an update in another round than the open one",
    ),
    ...unless(!busy, "an update while a call or a tool was running"),
    ...unless(
      event.via !== "tool_result" || round.midstream < most,
      `more than ${most} updates came with tool results`,
    ),
    ...unless(
      event.via !== "tool_result" || round.last?.type === "call.completed",
      "an update with a tool result without a reply before it",
    ),
    ...unless(
      board.rules?.disable_injection !== true ||
        event.via === "reopened" ||
        (event.via === "message" && previous === "vote.stale"),
      "an update of a working agent although injections are disabled",
    ),
    ...unless(
      (event.via === "reopened") === (round.voted && agent.vote === null),
      "only a voided vote reopens a round",
    ),
  ];
}

/**
 * After its first answer, an agent waits for those without one: always if the rules say so, else
 * until the grace ends.
 */
export const waiting: Invariant = {
  id: "waiting",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "round.started" || event.purpose !== "coordination") return [];
      const agent = agentOf(board, event.agent);
      if (!agent || agent.answers === 0 || agent.released) return [];
      return unless(
        mayContinue(board, event.at),
        "an agent with an answer did not wait for those without one",
      );
    },
  }),
};

function mayContinue(board: Board, at: number): boolean {
  if (liveOf(board).every(({ answers }) => answers > 0)) return true;
  const end = graceEnd(board);
  return board.rules?.defer_voting_until_all_answered === false && end !== null && at >= end;
}

/** Rounds are numbered, at most one is open per agent, and their stated cause is true. */
export const rounds: Invariant = {
  id: "rounds",
  watch: () => ({
    see: ({ event, board }) => {
      const agent = "agent" in event ? agentOf(board, event.agent) : undefined;
      if (!agent) return [];
      if (event.type === "presentation.started")
        return unless(
          event.round === agent.roundsSoFar + 1,
          "the presentation's round is out of order",
        );
      if (event.type === "round.nudged") return nudged(event.nudge, agent);
      if (event.type !== "round.started")
        return unless(
          !("round" in event) || agent.round?.number === event.round,
          `${event.type} outside the open round`,
        );
      return [
        ...unless(
          event.round === agent.roundsSoFar + 1,
          `round ${event.round} follows ${agent.roundsSoFar}`,
        ),
        ...unless(
          agent.round === null || event.cause === "context_full",
          "a round began while another was open",
        ),
        ...unless(
          event.purpose !== "coordination" || agent.out === null,
          "an agent that is out began a round",
        ),
        ...unless(
          event.purpose !== "coordination" || agent.coordinationRounds < 20,
          "more than 20 rounds",
        ),
      ];
    },
  }),
};

function nudged(nudge: number, agent: BoardAgent): string[] {
  return [
    ...unless(
      nudge === (agent.round?.nudges ?? 0) + 1,
      `nudge ${nudge} follows ${agent.round?.nudges ?? 0}`,
    ),
    ...unless(nudge <= 3, "more than 3 nudges in a round"),
  ];
}
