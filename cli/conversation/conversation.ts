import type { QuestionPart } from "../../src/protocol/attachments";
import type { ConflictSide } from "../../src/protocol/api/contexts";
import type { NextTurn } from "../asking/ask-again";
import type { AskTarget } from "../asking/ask-team";
import type { SharedFolder, WithFolder } from "../asking/shared-folders";
import type { Connection } from "../credentials/connection";
import type { Limits } from "../commands/flags";
import type { OutputOptions } from "../asking/answer-output";
import type { TeamChoice } from "../asking/team-choice";
import { CliError, EXIT } from "../exit-codes";
import { withUploads } from "../uploads/uploads";
import type { TypedAhead } from "./typed-ahead";

/** State of a conversation at the terminal. */
export type Conversation = {
  team: TeamChoice;
  readonly connection: Connection;
  limits: Limits;
  readonly output: OutputOptions;
  /** `null` until the first question is asked. */
  session: string | null;
  /** The turn that the next question follows; `null` means the session's head. */
  from: number | null;
  /** The latest question; `null` if no question was asked in this session. */
  latest: LatestQuestion | null;
  /**
   * Another team for the next question of the session. The turns that continue its turn use the
   * team too. Omitted: the team of the turn that the question follows.
   */
  teamOfNext?: TeamChoice;
  /** Attachments of the next question, in addition to those of the team. */
  attachments: readonly QuestionPart[];
  /** The folders of `--with`. Another team gets them too. */
  readonly requested: readonly WithFolder[];
  /** All folders that the team has: those of `--with`, and those that its config names. */
  folders: readonly SharedFolder[];
  /**
   * What `--with` gave to the team, while the conversation continues a session that does not have
   * it: the next new session gets it. `null`: it is in `limits` and `folders`.
   */
  aside: { grants: Pick<Limits, "contexts">; folders: readonly SharedFolder[] } | null;
  /**
   * The side that wins conflicts of the next question, and only of that one: later pushes of the
   * user must not lose without a question. `null`: conflicts refuse the turn.
   */
  winner: ConflictSide | null;
  /** The question that conflicts refused last; `null` after any other question. */
  refused: { next: NextTurn; question: LatestQuestion } | null;
  /** Questions whose turns the conversation will follow, in order. */
  readonly waiting: WaitingQuestion[];
  /** What the user types while a turn runs; `null` if the terminal cannot show it. */
  readonly typed: TypedAhead | null;
};

/** A question in the queue of the session, by its id; or one that has started, by its turn. */
export type WaitingQuestion =
  | { question: string; id: string; turn?: undefined }
  | { question: string; id: ""; turn: number };

export type LatestQuestion = {
  question: string;
  /** The turn that the question follows; `null` for the first turn and its repetitions. */
  parent: number | null;
  /** The turn that first asked the question; `null` until the service has accepted it. */
  turn: number | null;
  /** Without those of a session's first team. */
  attachments: readonly QuestionPart[];
  /** The team that the question brought, in the form of the API. Omitted if it brought none. */
  team?: TeamChoice["request"];
};

/** The session of the conversation. Throws CliError if there is none yet. */
export function sessionOf({ session }: Conversation): string {
  if (session === null)
    throw new CliError(EXIT.config, "No session yet. Ask a question, or /attach a session.");
  return session;
}

/** The attachments of the session's next question: those of the team that it brings come first. */
export const attachmentsOfNext = ({
  teamOfNext,
  attachments,
}: Pick<Conversation, "teamOfNext" | "attachments">): readonly QuestionPart[] => [
  ...(teamOfNext?.attachments ?? []),
  ...attachments,
];

/** To be called once the service has accepted a question that brought this team. */
export function noteAccepted(conversation: Conversation, team: LatestQuestion["team"]): void {
  if (team && conversation.teamOfNext?.request === team) delete conversation.teamOfNext;
}

/** The request that asks `question`: the session's next turn, or a new session if there is none. */
export function nextTurn(conversation: Conversation, question: string): AskTarget {
  const { session, from, team, teamOfNext, limits, attachments, winner } = conversation;
  if (session === null) return firstTurn({ team, limits }, { question, attachments });
  return {
    next: {
      sessionId: session,
      body: {
        question: withUploads(question, attachmentsOfNext(conversation)),
        ...(from === null ? {} : { parent_turn: from }),
        ...teamOfNext?.request,
        ...limits,
        ...(winner === null ? {} : { context_conflicts: winner }),
      },
    },
  };
}

/**
 * The request that repeats the latest question after the same parent turn. If the question has no
 * turn, because the service did not accept it, it is sent again. Returns `null` if there is no
 * latest question.
 */
export function repeatedTurn({ session, team, limits, latest }: Conversation): AskTarget | null {
  if (latest === null) return null;
  const { question, parent, turn, attachments, team: brought = {} } = latest;
  if (session === null) return firstTurn({ team, limits }, { question, attachments });
  const { contexts: _, overrides: __, ...own } = limits;
  const body =
    turn === null
      ? {
          question: withUploads(question, attachments),
          ...(parent === null ? {} : { parent_turn: parent }),
          ...brought,
          ...limits,
        }
      : { repeat_turn: turn, ...own };
  return { next: { sessionId: session, body } };
}

const firstTurn = (
  { team, limits }: Pick<Conversation, "team" | "limits">,
  { question, attachments }: QuestionInput,
): AskTarget => ({
  run: {
    question: withUploads(question, [...(team.attachments ?? []), ...attachments]),
    ...team.request,
    ...limits,
  },
});
type QuestionInput = Pick<LatestQuestion, "question" | "attachments">;
