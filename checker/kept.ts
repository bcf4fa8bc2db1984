import type { Board } from "./board";
import { isText } from "./endings";
import { isOld } from "./round-limits";
import { type Invariant, unless } from "./types";

/**
 * An agent that wrote text does not fail without an answer, and has one when coordination ends, for
 * every cause. Exception: a final text of an earlier attempt is used because no agent has answered
 * since. Text withheld by a provider does not count.
 */
export const kept: Invariant = {
  id: "kept",
  watch: () => {
    const wrote = new Set<string>();
    return {
      see: ({ event, board }) => {
        if (event.type === "attempt.started") wrote.clear();
        if (event.type === "stream.delta")
          for (const item of event.items)
            if (isText({ ...event, items: [item] }, board)) wrote.add(item.agent);
        if (event.type === "agent.failed" && WITHHELD.has(event.code)) wrote.delete(event.agent);
        if (event.type === "agent.failed" && !isOld(board)) return lost(board, wrote, event.agent);
        if (
          event.type !== "attempt.settled" ||
          event.ended_by === "skipped" ||
          event.ended_by === "cancelled"
        )
          return [];
        if (isOld(board) || (board.finals.length > 0 && board.answers.length === 0)) return [];
        return lost(board, wrote);
      },
    };
  },
};

const WITHHELD: ReadonlySet<string> = new Set(["content_filter", "refusal"]);

/** For all agents, or for one. */
const lost = (board: Board, wrote: ReadonlySet<string>, only?: string): string[] =>
  board.agents
    .filter(({ id }) => only === undefined || id === only)
    .flatMap(({ id, answers }) =>
      unless(answers > 0 || !wrote.has(id), `the text of ${id} is lost`),
    );
