import type { AgentState, SessionState } from "../../../src/coordination";
import type { Chance } from "../../../simulated/chance";
import type { Feature } from "./situation";

/** How an agent tends to act; drawn once per run. */
export type Character = "agreeable" | "improver" | "stubborn" | "careless";

/** All that one reply is drawn from. */
export type Temper = { chance: Chance; has: (feature: Feature) => boolean; character: Character };

/** The running attempt's agents, as the model's conversation shows them by alias. */
export function answered(state: SessionState): { alias: string; agent: AgentState }[] {
  const { turn } = state;
  if (!turn) return [];
  return turn.attempt.agents.flatMap((agent) =>
    agent.answers > 0 ? [{ alias: turn.aliases[agent.index] ?? "", agent }] : [],
  );
}
