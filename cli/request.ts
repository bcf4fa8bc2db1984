import type { z } from "zod";
import type { Connection } from "./connection";
import { CliError, EXIT } from "./exit-codes";
import { errorFrom, type RequestContext, unreachable } from "./problem";
import { parseJson } from "./schema";
import { VERSION } from "./version";

export type Call = {
  method: "GET" | "POST" | "DELETE";
  path: string;
  body?: unknown;
  signal?: AbortSignal;
  /** Sent as `Idempotency-Key`: the service does the same thing once, however often it is asked. */
  once?: string;
};

/** The service answers a plain request at once; a start waits for a place in the tenant's quota and for the log. */
const ANSWER_MS = 60_000;

/** An answer's JSON, checked and as received. */
export type Answer<T> = { data: T; raw: string };

/** Asks and reads the answer. Throws CliError, or the signal's reason after an abort. */
export async function request<T>(call: Call, schema: z.ZodType<T>, context: RequestContext): Promise<Answer<T>> {
  const response = await send(call, context);
  const raw = await response.text();
  const parsed = schema.safeParse(parseJson(raw));
  if (parsed.success) return { data: parsed.data, raw };
  const message = `${context.server} answered something else than this service does. Is the address right?`;
  throw new CliError(EXIT.execution, message);
}

/** Asks; an answer that is no success is thrown as CliError. */
export async function send(call: Call, context: RequestContext): Promise<Response> {
  const response = await reach(call, context);
  if (!response.ok) throw await errorFrom(response, context);
  return response;
}

/** Asks; any answer is one. Throws CliError if there is none. */
export async function reach({ method, path, body, signal, once }: Call, context: RequestContext): Promise<Response> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const headers = {
    Accept: "application/json",
    ...identity(context),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(once === undefined ? {} : { "Idempotency-Key": once }),
  };
  const init: RequestInit = { method, headers, redirect: "manual", signal: signal ? AbortSignal.any([signal, late]) : late };
  if (body !== undefined) init.body = JSON.stringify(body);
  return fetch(new URL(path, context.server), init).catch((cause: unknown) => {
    throw signal?.aborted ? signal.reason : unreachable(context, late.aborted ? late.reason : cause);
  });
}

/** Who asks. */
export const identity = ({ key }: Connection): Record<string, string> => ({
  "User-Agent": `massgen-edge/${VERSION}`,
  ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
});
