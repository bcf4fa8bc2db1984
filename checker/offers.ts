import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent, limitOn } from "./board";
import { isResearch } from "./research";
import { type Invariant, unless } from "./types";

/**
 * A call offers the decisions that are allowed: before the first answer only an answer, at a limit
 * of answers only a vote. A decision is forced after a nudge and at the end of the round.
 */
export const offers: Invariant = {
  id: "offers",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "call.started") return [];
      const agent = agentOf(board, event.agent);
      if (!agent) return [];
      const expected =
        isResearch(event) || event.compacts ? [] : expectedOffers(event, board, agent);
      const isLast = event.limit?.calls_left === 0 || event.limit?.seconds_left === 0;
      const mustDecide =
        event.purpose === "coordination" &&
        !event.compacts &&
        ((agent.round?.nudges ?? 0) > 0 || isLast);
      return [
        ...unless(
          event.offers.join() === expected.join(),
          `offered ${event.offers.join()} where ${expected.join()} is due`,
        ),
        ...unless(
          !event.forced || agent.rules.forces_tools,
          "forced a tool where the provider cannot",
        ),
        ...unless(
          !mustDecide || event.forced === agent.rules.forces_tools,
          "a nudged agent was not made to decide",
        ),
        ...unless(
          !event.forced || event.purpose !== "coordination" || mustDecide,
          "forced a decision before any nudge",
        ),
      ];
    },
  }),
};

/** The decisions that a call must offer. */
function expectedOffers(event: EventOf<"call.started">, board: Board, agent: BoardAgent): string[] {
  switch (event.purpose) {
    case "coordination":
      if (agent.answers === 0) return ["new_answer"];
      return limitOn(board, agent) === null ? ["new_answer", "vote"] : ["vote"];
    case "judgement":
      return ["submit", "restart_orchestration"];
    case "personas":
      return ["assign_personas"];
    case "presentation":
    case "summary":
      return [];
  }
}
