import type { EventOf, SessionEvent } from "../src/protocol/events";
import { agentOf, type Board } from "./board";
import { type Invariant, unless } from "./types";

/**
 * A compaction call can do nothing else, happens at most once before each other call, and always
 * removes something.
 */
export const compaction: Invariant = {
  id: "compaction",
  watch: () => {
    /** The last compaction call by agent, until that agent's next call. */
    const latest = new Map<string, string>();
    const lengths = knownLengths();
    return {
      see: ({ event, board }) => {
        lengths.see(event, board);
        switch (event.type) {
          case "call.started": {
            const again = latest.has(event.agent) && event.compacts === true;
            latest.delete(event.agent);
            return [
              ...unless(!again, "two compactions for one call"),
              ...unless(
                !event.compacts || lengths.isDue(event.agent, board),
                "a compaction although the window has room",
              ),
              ...started(event, board),
            ];
          }
          case "call.completed":
            if (!compacts(board, event.call)) return [];
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

const compacts = (board: Board, call: string): boolean =>
  board.openCalls.get(call)?.compacts === true;

/** Share of the context window that a conversation may fill. */
const FULL = 0.85;

/**
 * Known lengths of conversations, from calls without other input, and agents whose conversation was
 * refused as too long.
 */
function knownLengths() {
  const lengths = new Map<string, number>();
  const refused = new Set<string>();
  return {
    isDue: (agent: string, board: Board): boolean =>
      refused.has(agent) ||
      (lengths.get(agent) ?? 0) >
        FULL * (agentOf(board, agent)?.rules.context_window ?? Number.POSITIVE_INFINITY),
    see(event: SessionEvent, board: Board): void {
      if (event.type === "round.started") {
        lengths.delete(event.agent);
        refused.delete(event.agent);
      }
      if (
        event.type === "call.failed" &&
        event.class === "context_too_long" &&
        !compacts(board, event.call)
      )
        refused.add(event.agent);
      if (event.type === "conversation.compacted")
        lengths.set(event.agent, (lengths.get(event.agent) ?? 0) - event.tokens);
      if (event.type !== "call.completed" || compacts(board, event.call)) return;
      refused.delete(event.agent);
      const { input_tokens, output_tokens, hosted_uses, requests = 1 } = event.usage;
      const isPlain = input_tokens > 0 && hosted_uses === undefined && requests === 1;
      if (isPlain) lengths.set(event.agent, input_tokens + output_tokens);
    },
  };
}

function started(event: EventOf<"call.started">, board: Board): string[] {
  if (!event.compacts) return [];
  const round = agentOf(board, event.agent)?.round;
  return [
    ...unless((round?.completed ?? 0) > 0, "a compaction before the first reply"),
    ...unless(
      event.offers.length === 0 && !event.forced && !event.hosted_tools,
      "a compaction call has tools",
    ),
  ];
}
