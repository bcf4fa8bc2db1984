import { agentOf, type Board, type BoardAgent } from "./board";
import { isShort } from "./deferrals";
import { roundClock } from "./round-limits";
import { type Invariant, unless } from "./types";

/**
 * The winner presents itself unless it has failed, its time, budget or calls are exhausted, or its
 * output is not a final text.
 */
export const fallbacks: Invariant = {
  id: "fallbacks",
  watch: () => {
    /** Non-blank UTF-16 units that presentation calls have streamed. */
    const streamed = new Map<string, number>();
    return {
      see: ({ event, board }) => {
        if (board.presenting === null || board.final !== null) return [];
        switch (event.type) {
          case "stream.delta":
            for (const { kind, call, text } of event.items)
              if (kind === "final")
                streamed.set(call, (streamed.get(call) ?? 0) + text.trim().length);
            return [];
          case "presentation.completed":
            return event.source === "presentation" || isReused(board)
              ? []
              : unfounded(event.at, board, streamed);
          case "turn.completed":
            return unfounded(event.at, board, streamed);
          case "turn.failed":
            return event.code === "internal" ? [] : unfounded(event.at, board, streamed);
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

function unfounded(at: number, board: Board, streamed: ReadonlyMap<string, number>): string[] {
  const presenter = agentOf(board, board.presenting?.agent ?? "");
  const isTimeUp =
    at >= (board.turn?.deadline_at ?? 0) ||
    (presenter !== undefined && at >= roundClock(board, presenter).over);
  const mayPresent =
    presenter !== undefined &&
    presenter.out !== "failed" &&
    !isTimeUp &&
    !isShort(board, presenter);
  return unless(
    !mayPresent || isLost(presenter, streamed),
    "the winner did not present although it could",
  );
}

/** Whether the presenter's last call failed, or was the last one it may make. */
function isLost({ round }: BoardAgent, streamed: ReadonlyMap<string, number>): boolean {
  if (!round?.last) return false;
  if (round.last.type === "call.failed")
    return round.last.retry_at === null && round.last.class !== "cancelled";
  const { stop_reason, tools, call } = round.last;
  const isWhole = stop_reason === "stop" || stop_reason === "tool_calls";
  const length = streamed.get(call) ?? 0;
  const isLast = tools.length === 0 || round.lastCalls.includes(call);
  return !isWhole || (isLast && length === 0);
}
