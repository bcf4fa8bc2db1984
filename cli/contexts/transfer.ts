import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { CliError, EXIT } from "../exit-codes";
import { errorFrom, type RequestContext, unreachable } from "../service/problem";
import { identity } from "../service/request";
import { parseJson } from "../service/schema";

/** Requests that move files. All of them mean the same when they are made again, so what breaks off is made again. */
export type Transfer = {
  method: "GET" | "PUT";
  path: string;
  body?: { type: string; bytes: Uint8Array<ArrayBuffer> | string };
  /** More is not taken. */
  mostBytes?: number;
};

/** For a pack of blobs over a slow line. */
const ANSWER_MS = 10 * 60_000;
const TRIES = 6;
const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 60_000;
const MOST_BYTES = 64_000_000;

type Answer = { response: Response; bytes: Uint8Array };

/** The bytes of an answer. Throws CliError. */
export async function transfer(call: Transfer, context: RequestContext): Promise<Uint8Array> {
  return bytesOf(await answerTo(call, context), context);
}

/** The JSON of an answer, checked. Throws CliError. */
export async function transferJson<T>(
  call: Transfer,
  schema: z.ZodType<T>,
  context: RequestContext,
): Promise<T> {
  return jsonOf(await answerTo(call, context), schema, context);
}

/** As `transferJson`; null where there is no such thing. */
export async function transferJsonIfThere<T>(
  call: Transfer,
  schema: z.ZodType<T>,
  context: RequestContext,
): Promise<T | null> {
  const answer = await answerTo(call, context);
  return answer.response.status === 404 ? null : jsonOf(answer, schema, context);
}

/** The last word of the service, which may be no. Throws CliError where it cannot be reached. */
async function answerTo(call: Transfer, context: RequestContext): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const isLast = tries === TRIES;
    const answer = await attempt(call, context).catch((error: unknown) => {
      if (
        isLast ||
        !(error instanceof CliError) ||
        error.exitCode !== EXIT.unreachable ||
        tries > 3
      )
        throw error;
      return null;
    });
    const wait = answer && !answer.response.ok ? waitOf(answer.response) : 0;
    if (answer && (answer.response.ok || wait === null || isLast)) return answer;
    await sleep(Math.max(wait ?? 0, FIRST_WAIT_MS * 2 ** (tries - 1)));
  }
}

async function bytesOf({ response, bytes }: Answer, context: RequestContext): Promise<Uint8Array> {
  if (response.ok) return bytes;
  throw await errorFrom(new Response(Buffer.from(bytes), response), context);
}

async function jsonOf<T>(
  answer: Answer,
  schema: z.ZodType<T>,
  context: RequestContext,
): Promise<T> {
  const parsed = schema.safeParse(
    parseJson(new TextDecoder().decode(await bytesOf(answer, context))),
  );
  if (parsed.success) return parsed.data;
  throw new CliError(
    EXIT.execution,
    `${context.server} answered something else than this service does. Is the address right?`,
  );
}

/** How long whoever answers so asks to wait; null for any other answer. */
function waitOf({ status, headers }: Response): number | null {
  if (status !== 429 && status !== 503) return null;
  const ms = Number(headers.get("retry-after") ?? "1") * 1_000;
  return ms <= MOST_WAIT_MS ? ms : null;
}

async function attempt(
  { method, path, body, mostBytes = MOST_BYTES }: Transfer,
  context: RequestContext,
): Promise<Answer> {
  const headers = {
    Accept: "*/*",
    ...identity(context),
    ...(body ? { "Content-Type": body.type } : {}),
  };
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    const url = new URL(path, context.server);
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal,
      ...(body ? { body: body.bytes } : {}),
    });
    return { response, bytes: await readAtMost(response, mostBytes, context) };
  } catch (cause) {
    throw cause instanceof CliError ? cause : unreachable(context, cause);
  }
}

async function readAtMost(
  { body }: Response,
  most: number,
  { server }: RequestContext,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > most)
      throw new CliError(
        EXIT.execution,
        `${server} answered more than was asked for. Is the address right?`,
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
