import { answerLimit } from "../decision/answer";
import type { AgentState, TurnState } from "../state";

/** Names of the coordination tools, with which agents take part in the coordination. */
export const WORKFLOW_TOOLS = [
  "new_answer",
  "vote",
  "submit",
  "restart_orchestration",
  "assign_personas",
] as const;
export type WorkflowTool = (typeof WORKFLOW_TOOLS)[number];

/**
 * The coordination tools that the agent's next call offers: only `new_answer` before the agent's
 * first answer, only `vote` at an answer limit, none in the presentation.
 *
 * A research call offers none of them. Whether a call is a research call is decided when it starts.
 */
export function offersOf(turn: TurnState, agent: AgentState): WorkflowTool[] {
  switch (agent.round?.purpose) {
    case "coordination":
      if (agent.answers === 0) return ["new_answer"];
      return answerLimit(turn, agent) ? ["vote"] : ["new_answer", "vote"];
    case "judgement":
      return ["submit", "restart_orchestration"];
    case "personas":
      return ["assign_personas"];
    case "presentation":
    case "summary":
    case undefined:
      return [];
  }
}
