import type { TurnTeams } from "./turn-teams";

/** Facts about a session that do not change while it is in memory. */
export type SessionFacts = {
  sessionId: string;
  teams: Pick<TurnTeams, "session" | "current" | "of">;
  /** The number of times that the session was loaded while a turn ran, including this time. */
  boot: number;
  /** A secret word that marks the orchestrator's own blocks in an agent's messages. */
  nonce: (turn: number, attempt: number, agent: number) => string;
};
