import type { AgentState, SessionState } from "../../../src/coordination";
import type { Chance } from "../../../simulated/chance";
import type { Feature } from "./rules-situation";

/** An agent's character; drawn once per run. */
export type Character = "agreeable" | "improver" | "stubborn" | "careless";

/** The sources that a reply is drawn from. */
export type ReplySources = {
  chance: Chance;
  has: (feature: Feature) => boolean;
  character: Character;
};

/** The running attempt's agents with an answer, by the alias that models see. */
export function answered(state: SessionState): { alias: string; agent: AgentState }[] {
  const { turn } = state;
  if (!turn) return [];
  return turn.attempt.agents.flatMap((agent) =>
    agent.answers > 0 ? [{ alias: turn.aliases[agent.index] ?? "", agent }] : [],
  );
}
