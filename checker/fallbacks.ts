import { agentOf, type Board, type BoardAgent } from "./board";
import { isShort } from "./deferrals";
import { roundClock } from "./round-limits";
import { type Invariant, unless } from "./types";

/** The winner presents in its own words unless it has failed, its time, budget or calls are used up, or what it wrote is no final text. */
export const fallbacks: Invariant = {
  id: "fallbacks",
  watch: () => {
    /** How much of a text calls of presentations have shown, in UTF-16 code units, blanks apart. */
    const told = new Map<string, number>();
    return {
      see: ({ event, board }) => {
        if (board.presenting === null || board.final !== null) return [];
        switch (event.type) {
          case "stream.delta":
            for (const { kind, call, text } of event.items)
              if (kind === "final") told.set(call, (told.get(call) ?? 0) + text.trim().length);
            return [];
          case "presentation.completed":
            return event.source === "presentation" || isReused(board)
              ? []
              : unfounded(event.at, board, told);
          case "turn.completed":
            return unfounded(event.at, board, told);
          case "turn.failed":
            return event.code === "internal" ? [] : unfounded(event.at, board, told);
          default:
            return [];
        }
      },
    };
  },
};

/** Where the team's rules make the winning answer the final text, nobody presents. */
const isReused = (board: Board): boolean =>
  board.rules?.reuse_winning_answer === true && (board.settled?.label ?? null) !== null;

function unfounded(at: number, board: Board, told: ReadonlyMap<string, number>): string[] {
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
    !mayPresent || isLost(presenter, told),
    "the winner did not present although nothing kept it from it",
  );
}

/** Whether the presenter's last call came to nothing, or was the last that it may make. */
function isLost({ round }: BoardAgent, told: ReadonlyMap<string, number>): boolean {
  if (!round?.last) return false;
  if (round.last.type === "call.failed")
    return round.last.retry_at === null && round.last.class !== "cancelled";
  const { stop_reason, tools, call } = round.last;
  const isWhole = stop_reason === "stop" || stop_reason === "tool_calls";
  const length = told.get(call) ?? 0;
  const isLast = tools.length === 0 || round.lastCalls.includes(call);
  return !isWhole || (isLast && length === 0);
}
