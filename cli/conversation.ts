import type { Asked } from "./ask";
import type { Connection } from "./connection";
import type { Limits } from "./flags";
import type { OutputOptions } from "./output";
import type { TeamChoice } from "./team-choice";
import { withUploads } from "./uploads";

/** What a conversation at the terminal knows. */
export type Conversation = {
  team: TeamChoice;
  readonly connection: Connection;
  readonly limits: Limits;
  readonly output: OutputOptions;
  /** null until the first question is asked. */
  session: string | null;
  /** The latest question, and what it was asked after: null before anything, or for the first turn of a session. */
  latest: { question: string; parent: number | null; turn: number | null } | null;
};

/** How to ask `question` next: in the session there is, or in a new one. */
export function nextTurn({ session, team, limits }: Conversation, question: string): Asked {
  if (session === null) return { run: { question: withUploads(question, team.attached), ...team.request, ...limits } };
  return { next: { sessionId: session, body: { question, ...limits } } };
}

/**
 * The latest question once more, as if it had not been asked yet: after the same turn as before. A first question has nothing
 * before it, so it begins a new session.
 */
export function again({ session, team, limits, latest }: Conversation): Asked | null {
  if (latest === null) return null;
  const { question, parent } = latest;
  if (session === null || parent === null)
    return { run: { question: withUploads(question, team.attached), ...team.request, ...limits } };
  return { next: { sessionId: session, body: { question, parent_turn: parent, ...limits } } };
}
