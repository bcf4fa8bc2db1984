import type { z } from "zod";
import { MAX_CONFIG_CHARS } from "../../config/limits";
import { MAX_QUESTION_CHARS } from "../../protocol/api";
import { ApiError } from "../errors";
import { JsonRefusal, parseStrictJson } from "./strict-json";

/** JSON may write a UTF-16 code unit as `\uXXXX`. */
const ESCAPED_BYTES = 6;
const MIB = 1024 * 1024;
/** In whole MiB: room for a config's text and a question at their limits, all of it escaped, and for the fields around them. */
export const MAX_BODY_BYTES =
  Math.ceil((ESCAPED_BYTES * (MAX_CONFIG_CHARS + MAX_QUESTION_CHARS)) / MIB) * MIB;

/** An answer does not mirror whatever it is sent. */
const MOST_ERRORS = 20;
const MAX_DETAIL_CHARS = 300;

/** The JSON body, checked. Reading stops at the limit; nothing is written before it is whole and valid. */
export async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  return (await readBodyAndText(request, schema)).value;
}

/**
 * A limit of its own, in bytes, and what is said beyond it. `waits`: called before each wait for a piece. `came`: called with the
 * size of each piece and of all so far; what it throws as ApiError ends the reading.
 */
export type BodyLimit = {
  mostBytes: number;
  beyond: string;
  waits: () => void;
  came: (bytes: number, inAll: number) => Promise<void>;
};

/** The same with a limit of its own. */
export async function readLargeBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limit: BodyLimit,
): Promise<T> {
  requireJson(request.headers);
  const { text } = await readText(request, limit);
  return check(parse(text), schema);
}

/** The same with the text it was read from. `attachedBytes`: how much may be in it beyond the rest, as long values of `data`. */
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
      beyondMib(MAX_BODY_BYTES, " without its images and files"),
    );
  }
  return { value: check(parse(text), schema), text };
}

/** Whether the body says that it is YAML. */
export const isYaml = (request: Request): boolean =>
  /^application\/(x-)?yaml\s*(;|$)/i.test(request.headers.get("content-type") ?? "");

/** A body that is text to be read elsewhere. */
export async function readPlainBody(request: Request): Promise<string> {
  requireUncompressed(request.headers);
  return (await readText(request, plainLimit(MAX_BODY_BYTES), "request_invalid")).text;
}

function check<T>(value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues
    .flatMap((issue) => meant(issue))
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

/** Of what may have one form or another, what is wrong with the one that was meant: the only one whose type it has. */
function meant(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const close = issue.errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  const [only] = close;
  if (close.length !== 1 || !only) return [issue];
  return only
    .flatMap(meant)
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

const beyondMib = (mostBytes: number, but = ""): string =>
  `The body is larger than ${Math.floor(mostBytes / MIB)} MiB${but}.`;

const plainLimit = (mostBytes: number): BodyLimit => ({
  ...{ mostBytes, beyond: beyondMib(mostBytes) },
  ...{ waits: () => undefined, came: async () => undefined },
});

/** What a value of `data` begins with, and how long one is that has limits of its own. */
const DATA = /"data"\s*:\s*"/g;
const LONG = 1_000;

/**
 * Bytes of what is attached, told without parsing: JSON of such a length may take many times its size, but not where it is these. A
 * value that has a quote in it counts up to there.
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
  { mostBytes, beyond, waits, came }: BodyLimit,
  notUtf8: "bad_json" | "request_invalid" = "bad_json",
): Promise<{ text: string; size: number }> {
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes)
    throw new ApiError("body_too_large", beyond);
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
    waits();
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > mostBytes) throw new ApiError("body_too_large", beyond);
      await came(chunk.byteLength, size);
      parts.push(decode(chunk));
      waits();
    }
    await came(0, size); // the service waits for nothing more
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The client went, or wrote chunks that are none: in the platform's words that is a lost connection, as a restart of ours is.
    throw new ApiError("bad_json", "The body broke off before its end. Nothing was started.");
  }
  return { text: [...parts, decode()].join(""), size };
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
