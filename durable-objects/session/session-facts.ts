import type { TurnState } from "../../src/coordination";
import type { TurnTeams } from "./turn-teams";

/** Facts about a session that do not change while it is in memory. */
export type SessionFacts = {
  sessionId: string;
  teams: Pick<TurnTeams, "session" | "current" | "of">;
  /** The number of times that the session was loaded while a turn ran, including this time. */
  boot: number;
  /** A word that marks the orchestrator's own blocks in the messages of an agent, by its index. */
  nonce: (turn: TurnState, agent: number) => string;
};
