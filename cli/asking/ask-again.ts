import { type TurnRequest, textOfQuestion } from "../../src/protocol/api";
import type { ConflictSide } from "../../src/protocol/api/contexts";
import type { TurnView } from "../../src/protocol/view";
import { commandAt, shellArgument } from "../invocation";
import { type ConflictAdvice, winnerLines } from "../service/conflict-lines";
import { type RequestContext, refusalWith, toCliError } from "../service/problem";
import { sessionStatus } from "../service/session-calls";
import type { SharedFolder } from "./shared-folders";

/** The next turn of a session. */
export type NextTurn = { sessionId: string; body: TurnRequest };

/**
 * How the question of a refused turn can be asked again.
 *
 * - `options`: the options of the command that asked it
 * - `slash`: the command of a conversation that asks it again; omitted outside of conversations
 * - `folders`: the folders that were pushed for the question
 */
export type Repetition = {
  options?: readonly string[];
  slash?: (side: ConflictSide) => string;
  folders?: readonly SharedFolder[];
};

/**
 * The error for a failed start. If conflicts refused the turn, its message has the commands that
 * ask again; any other error is returned as it is.
 */
export async function explainedError(
  error: unknown,
  { sessionId, body }: NextTurn,
  { context, repetition }: { context: RequestContext; repetition: Repetition },
): Promise<unknown> {
  const refusal = refusalWith("context_conflicts", error);
  if (refusal === null) return error;
  const { slash, folders = [] } = repetition;
  const conflicts: ConflictAdvice = {
    again: commandsAgain({ sessionId, body }, { context, repetition }),
    isConversation: slash !== undefined,
    session: sessionId,
    turn: await turnWithResult({ sessionId, body }, context),
    folders: new Map(folders.map(({ name, typed }) => [name, typed])),
  };
  return toCliError(refusal, { ...context, conflicts });
}

/** The command that asks the question again and lets a side win. */
function commandsAgain(
  next: NextTurn,
  { context, repetition: { slash, options = [] } }: AgainOptions,
): ConflictAdvice["again"] {
  const words = repeatedWords(next, options);
  return slash ?? ((side) => commandAt(context, ...words, "--conflicts", side));
}
type AgainOptions = { context: RequestContext; repetition: Repetition };

/** Whether conflicts refused a turn at its start, after its question had waited in the queue. */
export const isRefusedByConflicts = (turn: Pick<TurnView, "failure"> | null): boolean =>
  turn?.failure?.code === "context_conflicts";

/** The commands that ask the question of such a turn again and let a side win. */
export const conflictHints = (next: NextTurn, options: AgainOptions): string[] =>
  winnerLines(commandsAgain(next, options));

/**
 * The turn whose files the refused turn would start from: its parent, or the nearest ancestor with
 * a result, because a failed turn changes no files. `null` if it is unknown.
 */
async function turnWithResult(
  { sessionId, body }: NextTurn,
  context: RequestContext,
): Promise<number | null> {
  const facts = await sessionStatus(sessionId, context).catch(() => null);
  const turns = new Map(facts?.data.turns.map((entry) => [entry.turn, entry]));
  let turn: number | null = body.parent_turn ?? facts?.data.head ?? Math.max(...turns.keys());
  for (let steps = 0; steps <= turns.size && turn !== null; steps += 1) {
    const found: { status: string; parent_turn?: number | null | undefined } | undefined =
      turns.get(turn);
    if (found?.status === "completed") return turn;
    turn = found?.parent_turn ?? null;
  }
  return body.parent_turn ?? null;
}

/** Most characters of a question that a printed command repeats. */
const MAX_REPEATED_CHARS = 1_000;

/**
 * The words of a command that asks the same question again. A long question, or one with control
 * characters, is read from a file: a command with a cut question would ask another one.
 */
function repeatedWords({ sessionId, body }: NextTurn, options: readonly string[]): string[] {
  const text = textOfQuestion(body.question ?? "");
  const fits = text.length <= MAX_REPEATED_CHARS && !/\p{Cc}/u.test(text);
  return [
    ...["ask", "--session", sessionId],
    ...(body.parent_turn === undefined ? [] : ["--from", String(body.parent_turn)]),
    ...options,
    fits ? shellArgument(text) : "- < question.txt",
  ];
}
