import type { z } from "zod";
import { cancelPath, RUNS_PATH, type RunRequest, type RunResponse, sessionPath } from "../src/protocol/api";
import { CliError, EXIT } from "./exit-codes";
import { errorFrom, type RequestContext, unreachable } from "./problem";
import { LatestTurnSchema, parseJson, RunResponseSchema } from "./schema";

type Call = { method: "GET" | "POST"; path: string; body?: unknown; signal: AbortSignal };

/** Starts a new session with its first turn. Throws CliError. Never repeats: each call may start a run. */
export async function startRun(request: RunRequest, context: RequestContext, signal: AbortSignal): Promise<RunResponse> {
  const response = await send({ method: "POST", path: RUNS_PATH, body: request, signal }, context);
  return read(response, RunResponseSchema, context);
}

/** The number of the session's latest turn. Throws CliError. */
export async function latestTurn(sessionId: string, context: RequestContext, signal: AbortSignal): Promise<number> {
  const response = await send({ method: "GET", path: sessionPath(sessionId), signal }, context);
  const { turns } = await read(response, LatestTurnSchema, context);
  return Math.max(1, ...turns.map(({ turn }) => turn));
}

/** Cancels the running turn; twice is the same as once. Throws CliError. */
export async function cancelRun(sessionId: string, context: RequestContext, signal: AbortSignal): Promise<void> {
  const response = await send({ method: "POST", path: cancelPath(sessionId), body: {}, signal }, context);
  await response.body?.cancel();
}

async function send({ method, path, body, signal }: Call, context: RequestContext): Promise<Response> {
  const headers = { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  const init = { method, headers, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(new URL(path, context.server), init).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : unreachable(context, cause);
  });
  if (!response.ok) throw await errorFrom(response, context);
  return response;
}

async function read<T>(response: Response, schema: z.ZodType<T>, { server }: RequestContext): Promise<T> {
  const parsed = schema.safeParse(parseJson(await response.text()));
  if (parsed.success) return parsed.data;
  throw new CliError(EXIT.execution, `${server} answered something else than this service does. Is the address right?`);
}
