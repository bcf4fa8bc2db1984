import type { CompactRequest, RunRequest, RunResponse, TurnRequest } from "../../client/index";
import { type Answer, callService, readAnswer } from "./call-service";
import type { RequestContext } from "./problem";
import {
  type AnswerText,
  AnswerTextSchema,
  type CancelResult,
  CancelResultSchema,
  RunResponseSchema,
  type SessionFacts,
  SessionFactsSchema,
  type StartAnswer,
  StartedSchema,
  type TurnFacts,
  TurnFactsSchema,
} from "./schema";

/**
 * Requests about sessions and turns. Every function throws CliError, or the signal's reason after
 * an abort.
 */

/** Starts a new session with its first turn. */
export async function startRun(
  body: RunRequest,
  context: RequestContext,
  signal: AbortSignal,
): Promise<RunResponse> {
  const start = readAnswer(context, RunResponseSchema, ({ runs }) => runs.start(body, { signal }));
  return (await start).data;
}

/** Starts the next turn of a session. If the session is busy, the question is queued. */
export async function startTurn(
  { sessionId, body }: { sessionId: string; body: TurnRequest },
  context: RequestContext,
  signal?: AbortSignal,
): Promise<StartAnswer> {
  const start = readAnswer(context, StartedSchema, ({ turns }) =>
    turns.start(sessionId, { on_busy: "queue", ...body }, { signal }),
  );
  return (await start).data;
}

/** Starts a turn that only summarises the conversation of a session. */
export async function compactSession(
  { session, body }: { session: string; body: CompactRequest },
  context: RequestContext,
): Promise<RunResponse> {
  const start = readAnswer(context, RunResponseSchema, ({ turns }) => turns.compact(session, body));
  return (await start).data;
}

/** Reads the session's current state and its turns. */
export const sessionStatus = (
  sessionId: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<Answer<SessionFacts>> =>
  readAnswer(context, SessionFactsSchema, ({ sessions }) => sessions.get(sessionId, { signal }));

/** Reads the number of the session's latest turn. */
export async function latestTurn(
  sessionId: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<number> {
  const { data } = await sessionStatus(sessionId, context, signal);
  return Math.max(1, ...data.turns.map(({ turn }) => turn));
}

/**
 * Reads the number of the session's latest question. A turn that only summarises the conversation
 * has no files and no changes.
 */
export async function latestQuestion(sessionId: string, context: RequestContext): Promise<number> {
  const { data } = await sessionStatus(sessionId, context);
  const questions = data.turns.filter(({ kind }) => kind !== "compact");
  return Math.max(1, ...questions.map(({ turn }) => turn));
}

/** Reads the number of the session's head: the turn that the next turn follows. */
export async function headTurn(sessionId: string, context: RequestContext): Promise<number> {
  const { data } = await sessionStatus(sessionId, context);
  return data.head ?? Math.max(1, ...data.turns.map(({ turn }) => turn));
}

/** Reads one turn: question, answer, votes, cost. */
export const turnFacts = (
  session: string,
  turn: number,
  context: RequestContext,
): Promise<Answer<TurnFacts>> =>
  readAnswer(context, TurnFactsSchema, ({ turns }) => turns.get({ session, turn }));

/** Reads one answer by its label. */
export const answerText = (
  { sessionId: session, turn, label }: { sessionId: string; turn: number; label: string },
  context: RequestContext,
): Promise<Answer<AnswerText>> =>
  readAnswer(context, AnswerTextSchema, ({ turns }) => turns.answer({ session, turn, label }));

/** Cancels the running turn. A second call has no further effect. */
export const cancelRun = (
  sessionId: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<Answer<CancelResult>> =>
  readAnswer(context, CancelResultSchema, ({ turns }) => turns.cancel(sessionId, { signal }));

/** Stops a session and erases all its data. */
export const eraseSession = (sessionId: string, context: RequestContext): Promise<void> =>
  callService(context, ({ sessions }) => sessions.delete(sessionId));
