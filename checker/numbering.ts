import { effectiveRules } from "./turn-team";
import { type Invariant, type Moment, unless } from "./types";

/**
 * I2: sequence numbers count from 1 without gaps. Time never decreases, except at deltas. Turns and
 * attempts are numbered without gaps.
 */
export const numbering: Invariant = {
  id: "I2",
  watch: () => {
    let last = 0;
    let lastAt = Number.NEGATIVE_INFINITY;
    let turns = 0;
    const queueIds = new Set<string>();
    return {
      see: (moment) => {
        const { event } = moment;
        const queueId = event.type === "turn.started" ? event.queue_id : undefined;
        const violations = [
          ...unless(
            queueId === undefined || !queueIds.has(queueId),
            `the queued request ${queueId} starts a second turn`,
          ),
          ...unless(
            event.sequence_number === last + 1,
            `number ${event.sequence_number} follows ${last}`,
          ),
          ...unless(
            event.at >= lastAt || event.type === "stream.delta",
            `time decreases from ${lastAt} to ${event.at}`,
          ),
          ...positionViolations(moment, turns),
        ];
        if (queueId !== undefined) queueIds.add(queueId);
        last = event.sequence_number;
        if (event.type !== "stream.delta") lastAt = Math.max(lastAt, event.at);
        if (event.type === "turn.started") turns = event.turn;
        return violations;
      },
    };
  },
};

function positionViolations({ event, board }: Moment, turns: number): string[] {
  switch (event.type) {
    case "session.created":
      return unless(event.sequence_number === 1, "a session is created once, at the beginning");
    case "stream.delta":
      return [];
    case "turn.started":
      return [
        ...unless(event.turn === turns + 1, `turn ${event.turn} begins after turn ${turns}`),
        ...unless(
          board.turn === null || board.endedTurn !== null,
          "a turn begins while another runs",
        ),
        ...aliasViolations(
          event.aliases,
          (effectiveRules(board, event)?.agents ?? []).map(({ id }) => id),
        ),
      ];
    case "head.moved":
      return [
        ...unless(board.endedTurn !== null, "the head moves while a turn runs"),
        ...unless(event.turn === 0, `the head moves in turn ${event.turn}`),
        ...unless(
          event.head >= 1 && event.head <= turns,
          `the head moves to turn ${event.head} of ${turns}`,
        ),
        ...unless(event.head !== board.head, `the head moves to turn ${event.head}, where it is`),
      ];
    case "attempt.started":
      return [
        ...unless(
          event.attempt === board.attempt + 1,
          `attempt ${event.attempt} begins after attempt ${board.attempt}`,
        ),
        ...unless(
          (event.feedback === null) === (event.attempt === 1),
          "feedback belongs to every attempt but the first",
        ),
      ];
    default:
      return [
        ...unless(event.turn === turns, `${event.type} of turn ${event.turn} inside turn ${turns}`),
        ...unless(
          !("attempt" in event) ||
            event.type === "turn.completed" ||
            event.attempt === board.attempt,
          `${event.type} of another attempt`,
        ),
      ];
  }
}

/** Aliases are `agent1` … `agentK`, each used once. */
function aliasViolations(
  aliases: Readonly<Record<string, string>>,
  ids: readonly string[],
): string[] {
  const expected = ids.map((_, index) => `agent${index + 1}`).sort();
  const actual = ids.map((id) => aliases[id] ?? "").sort();
  return unless(
    actual.join() === expected.join() && Object.keys(aliases).length === ids.length,
    "aliases are not a permutation of the team",
  );
}
