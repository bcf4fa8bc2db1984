import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { VERSION } from "../invocation";
import { codeOf } from "../local-files";
import { readText } from "./answer-text";
import { errorFrom, type RequestContext, unreachable } from "./problem";
import { parseJson } from "./schema";

export type Call = {
  method: "GET" | "POST" | "PUT" | "DELETE";
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
export async function request<T>(
  call: Call,
  schema: z.ZodType<T>,
  context: RequestContext,
): Promise<Answer<T>> {
  const response = await send(call, context);
  const raw = await response.text();
  const parsed = schema.safeParse(parseJson(raw));
  if (parsed.success) return { data: parsed.data, raw };
  const message = `${context.server} answered something else than this service does. Is the address right?`;
  throw new CliError(EXIT.execution, message);
}

/** Asks; an answer that is no success is thrown as CliError. What has an idempotency key is asked again after a break. */
export async function send(call: Call, context: RequestContext): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const wait =
      call.once !== undefined && tries < MOST_TRIES ? FIRST_WAIT_MS * 2 ** (tries - 1) : null;
    const answer = await reach(call, context).catch((error: unknown) => {
      if (wait === null || !brokeOff(error, tries)) throw error;
      return null;
    });
    if (answer?.ok) return answer;
    const later = answer ? retryAfterMs(answer) : 0;
    if (answer && (wait === null || later === null)) throw await errorFrom(answer, context);
    await answer?.body?.cancel();
    await sleep(
      Math.max(wait ?? 0, later ?? 0),
      undefined,
      call.signal ? { signal: call.signal } : {},
    ).catch(() => {
      throw call.signal?.reason;
    });
  }
}

/** A start that broke off may have begun; with its idempotency key the next try finds it. */
const MOST_TRIES = 4;
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 10_000;

/** How long a service that is being moved or renewed asks to wait; null for any other answer. */
function retryAfterMs({ status, headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return status === 503 && seconds * 1000 <= MOST_WAIT_MS ? seconds * 1000 : null;
}

/** Whether there was a connection that broke. One that never was is worth another try only once there has been one. */
function brokeOff(error: unknown, tries: number): boolean {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) return false;
  const code = causeCode(error.cause);
  return /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code) || (tries > 1 && code === "ECONNREFUSED");
}

/** The system's code, which `fetch` wraps in an error of its own. */
function causeCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return codeOf(error) || causeCode(error.cause);
}

/** Asks and reads; any answer is one, if it is whole. Throws CliError if there is none, or the signal's reason after an abort. */
export async function reach(
  { method, path, body, signal, once }: Call,
  context: RequestContext,
): Promise<Response> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const headers = {
    Accept: "application/json",
    ...identity(context),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(once === undefined ? {} : { "Idempotency-Key": once }),
  };
  const init: RequestInit = {
    method,
    headers,
    redirect: "manual",
    signal: signal ? AbortSignal.any([signal, late]) : late,
  };
  if (body !== undefined) init.body = JSON.stringify(body);
  let began: Response | null = null;
  try {
    began = await fetch(new URL(path, context.server), init);
    return await readWhole(began, context);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw cause instanceof CliError
      ? cause
      : unreachable(context, late.aborted ? late.reason : cause, began !== null);
  }
}

/** The same answer, with nothing left to come that could break off. */
async function readWhole(response: Response, { server }: Connection): Promise<Response> {
  const text = await readText(response, server);
  const { status, headers } = response;
  return new Response(text === "" ? null : text, { status, headers });
}

/** Who asks. */
export const identity = ({ key }: Connection): Record<string, string> => ({
  "User-Agent": `massgen-edge/${VERSION}`,
  ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
});
