import type { z } from "zod";
import { MAX_CONFIG_CHARS } from "../../config/config-limits";
import { MAX_QUESTION_CHARS } from "../../protocol/api";
import { ApiError } from "../errors";
import { JsonRefusal, parseStrictJson } from "./strict-json";

/** JSON may write a UTF-16 code unit as `\uXXXX`. */
const ESCAPED_BYTES = 6;
const MIB = 1024 * 1024;
/** In whole MiB: a config and a question at their limits, fully escaped, and the other fields. */
export const MAX_BODY_BYTES =
  Math.ceil((ESCAPED_BYTES * (MAX_CONFIG_CHARS + MAX_QUESTION_CHARS)) / MIB) * MIB;

/** Limits of errors, so that a response does not repeat a large request. */
const MOST_ERRORS = 20;
const MAX_DETAIL_CHARS = 300;

/** The JSON body, validated. Stops reading at the size limit. */
export async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  return (await readBodyAndText(request, schema)).value;
}

/**
 * A size limit and its error message. `onWait`: called before waiting for a chunk. `onBytes`:
 * called with the size of each chunk and of all chunks so far; an ApiError from it stops the
 * reading.
 */
type BodyLimit = {
  mostBytes: number;
  message: string;
  onWait: () => void;
  onBytes: (bytes: number, inAll: number) => Promise<void>;
};

/** Like `readBody`, with another size limit. */
export async function readLargeBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limit: BodyLimit,
): Promise<T> {
  requireJson(request.headers);
  const { text } = await readText(request, limit);
  return check(parse(text), schema);
}

/**
 * Like `readBody`, with the text of the body. `attachedBytes`: additional size allowed for long
 * values of `data`.
 */
export async function readBodyAndText<T>(
  request: Request,
  schema: z.ZodType<T>,
  attachedBytes = 0,
): Promise<{ value: T; text: string }> {
  requireJson(request.headers);
  const { text, size } = await readText(request, plainLimit(MAX_BODY_BYTES + attachedBytes));
  if (size - attachedIn(text, size) > MAX_BODY_BYTES) {
    throw new ApiError(
      "body_too_large",
      tooLargeMessage(MAX_BODY_BYTES, ", not counting images and files"),
    );
  }
  return { value: check(parse(text), schema), text };
}

/** Whether the body's type is YAML. */
export const isYaml = (request: Request): boolean =>
  /^application\/(x-)?yaml\s*(;|$)/i.test(request.headers.get("content-type") ?? "");

/** The body as text. */
export async function readPlainBody(request: Request): Promise<string> {
  requireUncompressed(request.headers);
  return (await readText(request, plainLimit(MAX_BODY_BYTES), "request_invalid")).text;
}

function check<T>(value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues
    .flatMap((issue) => relevantIssues(issue))
    .slice(0, MOST_ERRORS)
    .map(({ path, message }) => ({
      pointer: toPointer(path),
      detail: message.slice(0, MAX_DETAIL_CHARS).toWellFormed(),
    }));
  const [first] = errors;
  const where = first?.pointer ? `\`${first.pointer}\`` : "the body";
  throw new ApiError(
    "request_invalid",
    `The request is not valid, at ${where}: ${first?.detail}.`,
    { errors },
  );
}

type Issue = { path: readonly PropertyKey[]; message: string };

/** For a union: the issues of the variant whose type matches, if exactly one does. */
function relevantIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const close = issue.errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  const [only] = close;
  if (close.length !== 1 || !only) return [issue];
  return only
    .flatMap(relevantIssues)
    .map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

function requireJson(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new ApiError(
      "unsupported_media_type",
      "Send the body as JSON, with `content-type: application/json`.",
    );
  }
  requireUncompressed(headers);
}

function requireUncompressed(headers: Headers): void {
  if (headers.has("content-encoding"))
    throw new ApiError("unsupported_media_type", "Send the body without compression.");
}

const tooLargeMessage = (mostBytes: number, but = ""): string =>
  `The body is larger than ${Math.floor(mostBytes / MIB)} MiB${but}.`;

const plainLimit = (mostBytes: number): BodyLimit => ({
  ...{ mostBytes, message: tooLargeMessage(mostBytes) },
  ...{ onWait: () => undefined, onBytes: async () => undefined },
});

/** Start of a value of `data`, and the minimum length of a value that counts as an attachment. */
const DATA = /"data"\s*:\s*"/g;
const LONG = 1_000;

/**
 * Size of the attachments, measured without parsing, because parsed JSON can need many times its
 * size. A value with a quote counts up to the quote.
 */
function attachedIn(text: string, size: number): number {
  if (size <= MAX_BODY_BYTES) return 0;
  let sum = 0;
  for (const { index, 0: beginning } of text.matchAll(DATA)) {
    const from = index + beginning.length;
    const length = text.indexOf('"', from) - from;
    if (length >= LONG) sum += length;
  }
  return sum;
}

async function readText(
  request: Request,
  { mostBytes, message, onWait, onBytes }: BodyLimit,
  notUtf8: "bad_json" | "request_invalid" = "bad_json",
): Promise<{ text: string; size: number }> {
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes)
    throw new ApiError("body_too_large", message);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new ApiError(notUtf8, "The body is not UTF-8. Save it as UTF-8 and send it again.");
    }
  };
  const parts: string[] = [];
  let size = 0;
  try {
    onWait();
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > mostBytes) throw new ApiError("body_too_large", message);
      await onBytes(chunk.byteLength, size);
      parts.push(decode(chunk));
      onWait();
    }
    await onBytes(0, size); // the whole body has arrived
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The platform reports a disconnected client or invalid chunks as a lost connection.
    throw new ApiError("bad_json", "The body ended too early. Nothing was started.");
  }
  return { text: [...parts, decode()].join(""), size };
}

function parse(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    throw new ApiError("bad_json", `Invalid JSON: ${error.message}.`);
  }
}

const toPointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
