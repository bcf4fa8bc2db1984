import type { EventOf, SessionEvent } from "../src/protocol/events";
import { agentOf, type Board } from "./board";
import { type Invariant, unless } from "./types";

/**
 * A compaction call only compacts. There is at most one compaction before each other call, and each
 * compaction removes something.
 */
export const compaction: Invariant = {
  id: "compaction",
  watch: () => {
    /** The compaction call of each agent, until the agent's next call. */
    const latest = new Map<string, string>();
    const lengths = knownLengths();
    return {
      see: ({ event, board }) => {
        lengths.see(event, board);
        switch (event.type) {
          case "call.started": {
            const isRepeated = latest.has(event.agent) && event.compacts === true;
            latest.delete(event.agent);
            return [
              ...unless(!isRepeated, "two compactions for one call"),
              ...unless(
                !event.compacts || lengths.isDue(event.agent, board),
                "a compaction although the window has room",
              ),
              ...compactionStarted(event, board),
            ];
          }
          case "call.completed":
            if (!isCompaction(board, event.call)) return [];
            latest.set(event.agent, event.call);
            return unless(
              event.tools.length === 0 && event.decisions.length === 0,
              "a compaction call decided or used tools",
            );
          case "conversation.compacted":
            return [
              ...unless(
                latest.get(event.agent) === event.call,
                "compacted by a call that is no compaction call",
              ),
              ...unless(event.replies > 0 && event.tokens > 0, "a compaction removed nothing"),
            ];
          default:
            return [];
        }
      },
    };
  },
};

const isCompaction = (board: Board, call: string): boolean =>
  board.openCalls.get(call)?.compacts === true;

/** Share of the context window that a conversation may fill before it is compacted. */
const MAX_FILL = 0.85;

/**
 * Tracks the lengths of conversations in tokens, and the agents whose conversations were refused as
 * too long. A call without hosted tools and without further requests reveals the length.
 */
function knownLengths() {
  const lengths = new Map<string, number>();
  const refused = new Set<string>();
  return {
    isDue: (agent: string, board: Board): boolean =>
      refused.has(agent) ||
      (lengths.get(agent) ?? 0) >
        MAX_FILL * (agentOf(board, agent)?.rules.context_window ?? Number.POSITIVE_INFINITY),
    see(event: SessionEvent, board: Board): void {
      if (event.type === "round.started") {
        lengths.delete(event.agent);
        refused.delete(event.agent);
      }
      if (
        event.type === "call.failed" &&
        event.class === "context_too_long" &&
        !isCompaction(board, event.call)
      )
        refused.add(event.agent);
      if (event.type === "conversation.compacted")
        lengths.set(event.agent, (lengths.get(event.agent) ?? 0) - event.tokens);
      if (event.type !== "call.completed" || isCompaction(board, event.call)) return;
      refused.delete(event.agent);
      const { input_tokens, output_tokens, hosted_uses, requests = 1 } = event.usage;
      const isPlain = input_tokens > 0 && hosted_uses === undefined && requests === 1;
      if (isPlain) lengths.set(event.agent, input_tokens + output_tokens);
    },
  };
}

function compactionStarted(event: EventOf<"call.started">, board: Board): string[] {
  if (!event.compacts) return [];
  const round = agentOf(board, event.agent)?.round;
  return [
    ...unless((round?.completedCalls ?? 0) > 0, "a compaction before the first reply"),
    ...unless(
      event.offers.length === 0 && !event.forced && !event.hosted_tools,
      "a compaction call has tools",
    ),
  ];
}
