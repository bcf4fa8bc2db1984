import { agentOf, type Board, type BoardAgent } from "./board";
import { isShort } from "./deferrals";
import { roundClock } from "./round-limits";
import { type Invariant, unless } from "./types";

/**
 * The winner's answer replaces its final text only in these cases: the winner has failed, its time,
 * budget or calls are exhausted, or its output is not a final text.
 */
export const fallbacks: Invariant = {
  id: "fallbacks",
  watch: () => {
    /** Length of the text that each presentation call has streamedLength, in UTF-16 units. */
    const streamedLength = new Map<string, number>();
    return {
      see: ({ event, board }) => {
        if (board.presenting === null || board.final !== null) return [];
        switch (event.type) {
          case "stream.delta":
            for (const { kind, call, text } of event.items)
              if (kind === "final")
                streamedLength.set(call, (streamedLength.get(call) ?? 0) + text.trim().length);
            return [];
          case "presentation.completed":
            return event.source === "presentation" || isReused(board)
              ? []
              : unfoundedFallback(event.at, board, streamedLength);
          case "turn.completed":
            return unfoundedFallback(event.at, board, streamedLength);
          case "turn.failed":
            return event.code === "internal"
              ? []
              : unfoundedFallback(event.at, board, streamedLength);
          default:
            return [];
        }
      },
    };
  },
};

/** If the rules reuse the winning answer as the final text, there is no presentation. */
const isReused = (board: Board): boolean =>
  board.rules?.reuse_winning_answer === true && (board.settled?.label ?? null) !== null;

/** A violation if the winner could have presented. */
function unfoundedFallback(
  at: number,
  board: Board,
  streamedLength: ReadonlyMap<string, number>,
): string[] {
  const presenter = agentOf(board, board.presenting?.agent ?? "");
  const isTimeUp =
    at >= (board.turn?.deadline_at ?? 0) ||
    (presenter !== undefined && at >= roundClock(board, presenter).endAt);
  const mayPresent =
    presenter !== undefined &&
    presenter.out !== "failed" &&
    !isTimeUp &&
    !isShort(board, presenter);
  return unless(
    !mayPresent || isLost(presenter, streamedLength),
    "the winner did not present although it could",
  );
}

/** Whether the presenter's last call failed, or was the last one it may make. */
function isLost({ round }: BoardAgent, streamedLength: ReadonlyMap<string, number>): boolean {
  if (!round?.lastCallEnd) return false;
  if (round.lastCallEnd.type === "call.failed")
    return round.lastCallEnd.retry_at === null && round.lastCallEnd.class !== "cancelled";
  const { stop_reason, tools, call } = round.lastCallEnd;
  const isComplete = stop_reason === "stop" || stop_reason === "tool_calls";
  const length = streamedLength.get(call) ?? 0;
  const isLast = tools.length === 0 || round.decisionOnlyCalls.includes(call);
  return !isComplete || (isLast && length === 0);
}
