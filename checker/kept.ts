import type { Board } from "./board";
import { isText } from "./endings";
import { isOld } from "./round-limits";
import { type Invariant, unless } from "./types";

/**
 * The text of an agent is not lost: an agent that wrote text has an answer when it fails, and when
 * coordination ends. There are two exceptions: text that a provider withheld, and an attempt
 * without answers after an attempt with a final text.
 */
export const keptTexts: Invariant = {
  id: "kept",
  watch: () => {
    const writers = new Set<string>();
    return {
      see: ({ event, board }) => {
        if (event.type === "attempt.started") writers.clear();
        if (event.type === "stream.delta")
          for (const item of event.items)
            if (isText({ ...event, items: [item] }, board)) writers.add(item.agent);
        if (event.type === "agent.failed" && WITHHELD.has(event.code)) writers.delete(event.agent);
        if (event.type === "agent.failed" && !isOld(board))
          return lostTexts(board, writers, event.agent);
        if (
          event.type !== "attempt.settled" ||
          event.ended_by === "skipped" ||
          event.ended_by === "cancelled"
        )
          return [];
        if (isOld(board) || (board.finals.length > 0 && board.answers.length === 0)) return [];
        return lostTexts(board, writers);
      },
    };
  },
};

const WITHHELD: ReadonlySet<string> = new Set(["content_filter", "refusal"]);

/** Violations for all agents that wrote text, or for one agent. */
const lostTexts = (board: Board, writers: ReadonlySet<string>, agent?: string): string[] =>
  board.agents
    .filter(({ id }) => agent === undefined || id === agent)
    .flatMap(({ id, answers }) =>
      unless(answers > 0 || !writers.has(id), `the text of ${id} is lost`),
    );
