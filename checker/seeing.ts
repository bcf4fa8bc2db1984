import { agentOf, answerOf, type Board, type BoardAgent, newestAnswers, unseenBy } from "./board";
import { type Invariant, type Moment, type NumberedEvent, unless } from "./types";

/** I22: an agent without an answer in this attempt sees no answers of the attempt. */
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
 * I7: events of other agents do not disturb an agent without an answer. They do not restart, cut or
 * fail its round.
 */
export const undisturbedFirstRounds: Invariant = {
  id: "I7",
  watch: () => {
    let previous: NumberedEvent | null = null;
    /**
     * Agents without an answer whose call was cancelled, and the time. Their round must end then.
     */
    const cancelledAt = new Map<string, number>();
    return {
      see: ({ event, board }) => {
        if (event.type === "stream.delta") return [];
        const violations = [
          ...continuesAfterCut(cancelledAt, event),
          ...disturbances({ event, board }, previous),
        ];
        if (ENDS_ALL.has(event.type)) cancelledAt.clear();
        if ("agent" in event && ENDS_WORK.has(event.type)) cancelledAt.delete(event.agent);
        if (
          event.type === "call.failed" &&
          event.class === "cancelled" &&
          isInFirstRound(board, event.agent)
        )
          cancelledAt.set(event.agent, event.at);
        previous = event;
        return violations;
      },
    };
  },
};

/** Events that end the work of all agents. */
const ENDS_ALL: ReadonlySet<string> = new Set([
  "attempt.settled",
  "turn.completed",
  "turn.failed",
  "turn.cancelled",
]);
/** Events that end the round of their agent. */
const ENDS_WORK: ReadonlySet<string> = new Set([
  "answer.submitted",
  "round.failed",
  "agent.failed",
  "agent.abstained",
]);

function isInFirstRound(board: Board, id: string): boolean {
  const agent = agentOf(board, id);
  return agent?.answers === 0 && agent.round?.purpose === "coordination";
}

function continuesAfterCut(cancelledAt: Map<string, number>, event: NumberedEvent): string[] {
  return [...cancelledAt].flatMap(([agent, at]) => {
    const isOver = event.at === at && !(event.type === "call.started" && event.agent === agent);
    if (!isOver) cancelledAt.delete(agent);
    return unless(isOver, `${agent} was cut in its first round but continues`);
  });
}

function disturbances(
  { event, board }: Pick<Moment, "event" | "board">,
  previous: NumberedEvent | null,
): string[] {
  if (event.type !== "round.failed" && event.type !== "round.started") return [];
  const agent = agentOf(board, event.agent);
  if (!agent || agent.answers > 0) return [];
  if (event.type === "round.failed") {
    const isOwn = previous !== null && "agent" in previous && previous.agent === event.agent;
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

/**
 * An agent is shown existing answers: the newest answer of each author, and no answer is missing.
 */
export const shownAnswers: Invariant = {
  id: "shown",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "round.started" && event.type !== "answers.injected") return [];
      const agent = agentOf(board, event.agent);
      if (!agent) return [];
      const newAnswers =
        event.type === "answers.injected" ? unseenBy(board, agent) : newestAnswers(board);
      const expected =
        event.type === "round.started" && (event.purpose !== "coordination" || agent.answers === 0)
          ? []
          : newAnswers;
      return [
        ...labelViolations(board, event.labels),
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

function labelViolations(board: Board, labels: readonly string[]): string[] {
  return labels.flatMap((label) => {
    const answer = answerOf(board, label);
    if (!answer) return [`${label} was shown but does not exist`];
    return unless(
      newestAnswers(board).includes(answer),
      `${label} was shown but is not its author's newest`,
    );
  });
}

/**
 * An injection happens only while no call or tool of its agent runs, and in the stated form. The
 * number of injections with tool results is limited.
 */
export const injections: Invariant = {
  id: "injections",
  watch: () => {
    let previous: Moment["event"]["type"] | null = null;
    return {
      see: (moment) => {
        const violations = injectionViolations(moment, previous);
        previous = moment.event.type;
        return violations;
      },
    };
  },
};

function injectionViolations({ event, board }: Moment, previous: string | null): string[] {
  if (event.type !== "answers.injected") return [];
  const agent = agentOf(board, event.agent);
  if (!agent?.round) return ["an update without an open round"];
  const { round } = agent;
  const maxInjections = board.rules?.max_midstream_injections_per_round ?? 0;
  const isBusy =
    [...board.openCalls.values()].some((call) => call.agent === agent.id) ||
    board.openTools.some((tool) => tool.agent === agent.id && tool.round === event.round);
  return [
    ...unless(event.labels.length > 0, "an update without new answers"),
    ...unless(
      round.number === event.round && round.purpose === "coordination",
      "an update in another round than the open one",
    ),
    ...unless(!isBusy, "an update while a call or a tool was running"),
    ...unless(
      event.via !== "tool_result" || round.toolResultInjections < maxInjections,
      `more than ${maxInjections} updates came with tool results`,
    ),
    ...unless(
      event.via !== "tool_result" || round.lastCallEnd?.type === "call.completed",
      "an update with a tool result without a reply before it",
    ),
    ...unless(
      board.rules?.disable_injection !== true ||
        event.via === "reopened" ||
        (event.via === "message" && previous === "vote.stale"),
      "an update of a working agent although injections are disabled",
    ),
    ...unless(
      (event.via === "reopened") === (round.hasVoted && agent.vote === null),
      "only a voided vote reopens a round",
    ),
  ];
}

/** Rounds are numbered without gaps, and an agent has at most one open round. */
export const rounds: Invariant = {
  id: "rounds",
  watch: () => ({
    see: ({ event, board }) => {
      const agent = "agent" in event ? agentOf(board, event.agent) : undefined;
      if (!agent) return [];
      if (event.type === "presentation.started")
        return unless(
          event.round === agent.lastRoundNumber + 1,
          "the presentation's round is out of order",
        );
      if (event.type === "round.nudged") return nudgeViolations(event.nudge, agent);
      if (event.type !== "round.started")
        return unless(
          !("round" in event) || agent.round?.number === event.round,
          `${event.type} outside the open round`,
        );
      return [
        ...unless(
          event.round === agent.lastRoundNumber + 1,
          `round ${event.round} follows ${agent.lastRoundNumber}`,
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

function nudgeViolations(nudge: number, agent: BoardAgent): string[] {
  return [
    ...unless(
      nudge === (agent.round?.nudges ?? 0) + 1,
      `nudge ${nudge} follows ${agent.round?.nudges ?? 0}`,
    ),
    ...unless(nudge <= 3, "more than 3 nudges in a round"),
  ];
}
