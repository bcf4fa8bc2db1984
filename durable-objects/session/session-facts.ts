import type { Team } from "../../src/config/team";

/** The fixed facts of a session, read once when it is loaded. */
export type SessionFacts = {
  sessionId: string;
  team: Team;
  /** How often the session was loaded while a turn ran, this time included. */
  boot: number;
  /** Private words that mark the orchestrator's own blocks in an agent's messages. */
  nonce: (turn: number, attempt: number, agent: number) => string;
};
