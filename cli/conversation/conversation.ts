import type { QuestionPart } from "../../src/protocol/attachments";
import type { AskTarget } from "../asking/ask-team";
import type { Connection } from "../credentials/connection";
import type { Limits } from "../commands/flags";
import type { OutputOptions } from "../asking/answer-output";
import type { TeamChoice } from "../asking/team-choice";
import { withUploads } from "../uploads/uploads";

/** State of a conversation at the terminal. */
export type Conversation = {
  team: TeamChoice;
  readonly connection: Connection;
  readonly limits: Limits;
  readonly output: OutputOptions;
  /** `null` until the first question is asked. */
  session: string | null;
  /** The latest question; `null` if no question was asked in this session. */
  latest: LatestQuestion | null;
  /** Attachments of the next question, in addition to those of the team. */
  attached: readonly QuestionPart[];
};

export type LatestQuestion = {
  question: string;
  /** The turn that the question follows; `null` for the first turn of a session. */
  parent: number | null;
  turn: number | null;
  attached: readonly QuestionPart[];
};

/** The request for `question`: the next turn of the session, or a new session. */
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
 * The request that repeats the latest question after the same parent turn. The first question of a
 * session has no parent, so its repetition starts a new session. `null` without a latest question.
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
type PartsOfQuestion = Pick<LatestQuestion, "question" | "attached">;
