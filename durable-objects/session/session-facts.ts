import type { Team } from "../../src/config/team";

/** The constant facts of a session, read once when it is loaded. */
export type SessionFacts = {
  sessionId: string;
  team: Team;
  /** How often the session was loaded while a turn ran, including this time. */
  boot: number;
  /** Secret words that mark the orchestrator's own blocks in an agent's messages. */
  nonce: (turn: number, attempt: number, agent: number) => string;
};
