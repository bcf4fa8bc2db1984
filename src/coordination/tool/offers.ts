import { answerLimit } from "../decision/answer";
import type { AgentState, TurnState } from "../state";

/** Names of the orchestrator's own tools. */
export const WORKFLOW_TOOLS = [
  "new_answer",
  "vote",
  "submit",
  "restart_orchestration",
  "assign_personas",
] as const;
export type WorkflowTool = (typeof WORKFLOW_TOOLS)[number];

/**
 * The orchestrator's tools that the agent's next call offers: only `new_answer` before the first
 * answer, only `vote` at an answer limit, none in the presentation.
 *
 * A research call offers none; whether a call is one is decided when it starts.
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
    case undefined:
      return [];
  }
}
