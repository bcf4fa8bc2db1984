import type { AgentState, SessionState } from "../../../src/coordination";
import type { Chance } from "../../../simulated/chance";
import type { Feature } from "./rules-situation";

/** An agent's character, which is drawn once per run. */
export type Character = "agreeable" | "improver" | "stubborn" | "careless";

/** The values from which a reply is drawn. */
export type ReplySources = {
  chance: Chance;
  has: (feature: Feature) => boolean;
  character: Character;
};

/** The agents with an answer in the running attempt, each with the alias that models see. */
export function agentsWithAnswer(state: SessionState): { alias: string; agent: AgentState }[] {
  const { turn } = state;
  if (!turn) return [];
  return turn.attempt.agents.flatMap((agent) =>
    agent.answers > 0 ? [{ alias: turn.aliases[agent.index] ?? "", agent }] : [],
  );
}
