import { createHmac } from "node:crypto";
import type { TurnState } from "../../src/coordination";
import type { SessionFacts } from "./session-facts";

const NONCE_CHARS = 16;

/**
 * The nonces of a session, made from its `secret`. An agent has one nonce for all turns, so that
 * the prompt of a turn begins with the history of the turn before it. Another model of the same
 * agent has another nonce, because it has another prompt cache. Turns up to `changingUpTo` began
 * when each attempt had its own nonces, and keep them.
 */
export function noncesOf(secret: string, changingUpTo: number): SessionFacts["nonce"] {
  const known = new Map<string, string>();
  return (turn, agent) => {
    const key = turn.number <= changingUpTo ? attemptKey(turn, agent) : agentKey(turn, agent);
    const nonce =
      known.get(key) ??
      createHmac("sha256", secret).update(key).digest("hex").slice(0, NONCE_CHARS);
    known.set(key, nonce);
    return nonce;
  };
}

function agentKey({ rules }: TurnState, agent: number): string {
  const found = rules.agents[agent];
  if (!found) throw new Error(`no agent at index ${agent}`);
  return JSON.stringify([found.id, found.provider, found.model]);
}

const attemptKey = ({ number, attempt }: TurnState, agent: number): string =>
  `${number} ${attempt.number} ${agent}`;
