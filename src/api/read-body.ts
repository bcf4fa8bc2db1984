import type { z } from "zod";
import { MAX_CONFIG_CHARS } from "../config/limits";
import { MAX_QUESTION_CHARS } from "../protocol/api";
import { ApiError } from "./errors";
import { JsonRefusal, parseStrictJson } from "./strict-json";

/** JSON may write a UTF-16 code unit as `\uXXXX`. */
const ESCAPED_BYTES = 6;
const MIB = 1024 * 1024;
/** In whole MiB: room for a config's text and a question at their limits, all of it escaped, and for the fields around them. */
const MAX_BODY_BYTES = Math.ceil((ESCAPED_BYTES * (MAX_CONFIG_CHARS + MAX_QUESTION_CHARS)) / MIB) * MIB;

/** An answer does not mirror whatever it is sent. */
const MOST_ERRORS = 20;
const MAX_DETAIL_CHARS = 300;

/** The JSON body, checked. Reading stops at the limit; nothing is written before it is whole and valid. */
export async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  return (await readBodyAndText(request, schema)).value;
}

/** The same with the text it was read from. */
export async function readBodyAndText<T>(request: Request, schema: z.ZodType<T>): Promise<{ value: T; text: string }> {
  requireJson(request.headers);
  const text = await readText(request);
  return { value: check(parse(text), schema), text };
}

/** Whether the body says that it is YAML. */
export const isYaml = (request: Request): boolean =>
  /^application\/(x-)?yaml\s*(;|$)/i.test(request.headers.get("content-type") ?? "");

/** A body that is text to be read elsewhere. */
export function readPlainBody(request: Request): Promise<string> {
  requireUncompressed(request.headers);
  return readText(request);
}

function check<T>(value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, MOST_ERRORS).map(({ path, message }) => ({
    pointer: toPointer(path),
    detail: message.slice(0, MAX_DETAIL_CHARS).toWellFormed(),
  }));
  const [first] = errors;
  const where = first?.pointer ? `\`${first.pointer}\`` : "the body";
  throw new ApiError("request_invalid", `The request is not valid, at ${where}: ${first?.detail}.`, { errors });
}

function requireJson(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiError("unsupported_media_type", "Send the body as JSON, with `content-type: application/json`.");
  }
  requireUncompressed(headers);
}

function requireUncompressed(headers: Headers): void {
  if (headers.has("content-encoding")) throw new ApiError("unsupported_media_type", "Send the body without compression.");
}

async function readText(request: Request): Promise<string> {
  const tooLarge = new ApiError("body_too_large", `The body is larger than ${MAX_BODY_BYTES / MIB} MiB.`);
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge;
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new ApiError("bad_json", "The body is not UTF-8.");
    }
  };
  const parts: string[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) throw tooLarge;
      parts.push(decode(chunk));
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The client went, or wrote chunks that are none: in the platform's words that is a lost connection, as a restart of ours is.
    throw new ApiError("bad_json", "The body broke off before its end. Nothing was started.");
  }
  return [...parts, decode()].join("");
}

function parse(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    throw new ApiError("bad_json", `The body is not JSON as it is taken here: ${error.message}.`);
  }
}

const toPointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
