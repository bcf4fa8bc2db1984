import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent, limitOn } from "./board";
import { isResearch } from "./research";
import { type Invariant, unless } from "./types";

/**
 * Allowed decisions of a call: only an answer before the first one, only a vote at a limit; forced
 * after a nudge or at the end of the round.
 */
export const offers: Invariant = {
  id: "offers",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "call.started") return [];
      const agent = agentOf(board, event.agent);
      if (!agent) return [];
      const due = isResearch(event) || event.compacts ? [] : dueOffers(event, board, agent);
      const isLast = event.limit?.calls_left === 0 || event.limit?.seconds_left === 0;
      const nudged =
        event.purpose === "coordination" &&
        !event.compacts &&
        ((agent.round?.nudges ?? 0) > 0 || isLast);
      return [
        ...unless(
          event.offers.join() === due.join(),
          `offered ${event.offers.join()} where ${due.join()} is due`,
        ),
        ...unless(
          !event.forced || agent.rules.forces_tools,
          "forced a tool where the provider cannot",
        ),
        ...unless(
          !nudged || event.forced === agent.rules.forces_tools,
          "a nudged agent was not made to decide",
        ),
        ...unless(
          !event.forced || event.purpose !== "coordination" || nudged,
          "forced a decision before any nudge",
        ),
      ];
    },
  }),
};

function dueOffers(event: EventOf<"call.started">, board: Board, agent: BoardAgent): string[] {
  switch (event.purpose) {
    case "coordination":
      if (agent.answers === 0) return ["new_answer"];
      return limitOn(board, agent) === null ? ["new_answer", "vote"] : ["vote"];
    case "judgement":
      return ["submit", "restart_orchestration"];
    case "personas":
      return ["assign_personas"];
    case "presentation":
      return [];
  }
}
