import { randomUUID } from "node:crypto";
import {
  cancelPath,
  RUNS_PATH,
  type RunRequest,
  type RunResponse,
  runLinks,
  sessionPath,
} from "../../src/protocol/api";
import type { RequestContext } from "./problem";
import { type Answer, request, send } from "./request";
import {
  type AnswerText,
  AnswerTextSchema,
  type CancelResult,
  CancelResultSchema,
  RunResponseSchema,
  type SessionFacts,
  SessionFactsSchema,
  type TurnFacts,
  TurnFactsSchema,
  type TurnRequest,
} from "./schema";

/** What the service can be asked about sessions. Everything here throws CliError, or the signal's reason after an abort. */

/** Starts a new session with its first turn; a try that broke off is repeated and still starts one run. */
export async function startRun(
  body: RunRequest,
  context: RequestContext,
  signal: AbortSignal,
): Promise<RunResponse> {
  const call = { method: "POST", path: RUNS_PATH, body, signal, once: randomUUID() } as const;
  return (await request(call, RunResponseSchema, context)).data;
}

/** Starts the next turn of a session. */
export async function startTurn(
  { sessionId, body }: { sessionId: string; body: TurnRequest },
  context: RequestContext,
  signal: AbortSignal,
): Promise<RunResponse> {
  const call = {
    method: "POST",
    path: `${sessionPath(sessionId)}/turns`,
    body,
    signal,
    once: randomUUID(),
  } as const;
  return (await request(call, RunResponseSchema, context)).data;
}

/** What the session does now, and its turns. */
export const sessionStatus = (
  sessionId: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<Answer<SessionFacts>> =>
  request(
    { method: "GET", path: sessionPath(sessionId), ...(signal ? { signal } : {}) },
    SessionFactsSchema,
    context,
  );

/** The number of the session's latest turn. */
export async function latestTurn(
  sessionId: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<number> {
  const { data } = await sessionStatus(sessionId, context, signal);
  return Math.max(1, ...data.turns.map(({ turn }) => turn));
}

/** One turn: question, answer, votes, cost. */
export const turnFacts = (
  sessionId: string,
  turn: number,
  context: RequestContext,
): Promise<Answer<TurnFacts>> =>
  request({ method: "GET", path: runLinks(sessionId, turn).turn }, TurnFactsSchema, context);

/** One answer by its label. */
export const answerText = (
  { sessionId, turn, label }: { sessionId: string; turn: number; label: string },
  context: RequestContext,
): Promise<Answer<AnswerText>> => {
  const path = `${runLinks(sessionId, turn).turn}/answers/${encodeURIComponent(label)}`;
  return request({ method: "GET", path }, AnswerTextSchema, context);
};

/** Cancels the running turn; twice is the same as once. */
export const cancelRun = (
  sessionId: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<Answer<CancelResult>> =>
  request(
    { method: "POST", path: cancelPath(sessionId), body: {}, ...(signal ? { signal } : {}) },
    CancelResultSchema,
    context,
  );

/** Stops a session and erases all it has. */
export async function eraseSession(sessionId: string, context: RequestContext): Promise<void> {
  await send({ method: "DELETE", path: sessionPath(sessionId) }, context);
}
