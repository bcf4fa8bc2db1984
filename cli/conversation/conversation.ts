import type { QuestionPart } from "../../src/protocol/attachments";
import type { AskTarget } from "../asking/ask-team";
import type { Connection } from "../credentials/connection";
import type { Limits } from "../commands/flags";
import type { OutputOptions } from "../asking/answer-output";
import type { TeamChoice } from "../asking/team-choice";
import { withUploads } from "../uploads/uploads";

/** What a conversation at the terminal knows. */
export type Conversation = {
  team: TeamChoice;
  readonly connection: Connection;
  readonly limits: Limits;
  readonly output: OutputOptions;
  /** null until the first question is asked. */
  session: string | null;
  /**
   * The latest question, and what it was asked after: null before anything, or for the first turn
   * of a session.
   */
  latest: Latest | null;
  /** What goes along with the next question besides what the team has for the first. */
  attached: readonly QuestionPart[];
};

export type Latest = {
  question: string;
  parent: number | null;
  turn: number | null;
  attached: readonly QuestionPart[];
};

/** How to ask `question` next: in the session there is, or in a new one. */
export function nextTurn(
  { session, team, limits, attached }: Conversation,
  question: string,
): AskTarget {
  if (session === null) return first({ team, limits }, { question, attached });
  return {
    next: { sessionId: session, body: { question: withUploads(question, attached), ...limits } },
  };
}

/**
 * The latest question once more, as if it had not been asked yet: after the same turn as before. A
 * first question has nothing before it, so it begins a new session.
 */
export function again({ session, team, limits, latest }: Conversation): AskTarget | null {
  if (latest === null) return null;
  const { question, parent, attached } = latest;
  if (session === null || parent === null) return first({ team, limits }, { question, attached });
  return {
    next: {
      sessionId: session,
      body: { question: withUploads(question, attached), parent_turn: parent, ...limits },
    },
  };
}

const first = (
  { team, limits }: Pick<Conversation, "team" | "limits">,
  { question, attached }: PartsOfQuestion,
): AskTarget => ({
  run: {
    question: withUploads(question, [...(team.attached ?? []), ...attached]),
    ...team.request,
    ...limits,
  },
});
type PartsOfQuestion = Pick<Latest, "question" | "attached">;
