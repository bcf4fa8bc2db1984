import type { z } from "zod";
import { MAX_CONFIG_CHARS } from "../../config/config-limits";
import { MAX_QUESTION_CHARS } from "../../protocol/api";
import { ApiError } from "../errors";
import { JsonRefusal, parseStrictJson } from "./strict-json";

/** Bytes of a UTF-16 code unit that JSON escapes: `\uXXXX`. */
const ESCAPED_BYTES = 6;
const MIB = 1024 * 1024;
/**
 * Enough for a config and a question at their limits, also if every character is escaped. The other
 * fields fit because the size is rounded up to whole MiB.
 */
export const MAX_BODY_BYTES =
  Math.ceil((ESCAPED_BYTES * (MAX_CONFIG_CHARS + MAX_QUESTION_CHARS)) / MIB) * MIB;

/** Limits of the errors in a response, so that it does not repeat a large request. */
const MAX_ERRORS = 20;
const MAX_DETAIL_CHARS = 300;

/** Returns the validated JSON body. Stops reading at the size limit. */
export async function readBody<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  return (await readBodyAndText(request, schema)).value;
}

/**
 * A size limit and the error message for larger bodies. `onWait` is called before waiting for a
 * chunk. `onBytes` is called with the size of each chunk and of all chunks so far. If `onBytes`
 * throws an ApiError, the reading stops with this error.
 */
type BodyLimit = {
  maxBytes: number;
  message: string;
  onWait: () => void;
  onBytes: (bytes: number, totalBytes: number) => Promise<void>;
};

/** Like `readBody`, with another size limit. */
export async function readLargeBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limit: BodyLimit,
): Promise<T> {
  requireJson(request.headers);
  const { text } = await readText(request, limit);
  return validate(parse(text), schema);
}

/**
 * Like `readBody`, but also returns the text of the body. `attachedBytes`: additional size that is
 * allowed for attachments, which are long values of `data`.
 */
export async function readBodyAndText<T>(
  request: Request,
  schema: z.ZodType<T>,
  attachedBytes = 0,
): Promise<{ value: T; text: string }> {
  requireJson(request.headers);
  const { text, size } = await readText(request, bodyLimit(MAX_BODY_BYTES + attachedBytes));
  if (size - attachmentBytesIn(text, size) > MAX_BODY_BYTES) {
    throw new ApiError(
      "body_too_large",
      tooLargeMessage(MAX_BODY_BYTES, ", not counting images and files"),
    );
  }
  return { value: validate(parse(text), schema), text };
}

/** Whether the body's type is YAML. */
export const isYaml = (request: Request): boolean =>
  /^application\/(x-)?yaml\s*(;|$)/i.test(request.headers.get("content-type") ?? "");

/** Returns the body as text. */
export async function readPlainBody(request: Request): Promise<string> {
  requireUncompressed(request.headers);
  return (await readText(request, bodyLimit(MAX_BODY_BYTES), "request_invalid")).text;
}

function validate<T>(value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues
    .flatMap((issue) => relevantIssues(issue))
    .slice(0, MAX_ERRORS)
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

/** For a union, returns the issues of the variant whose type matches, if only one type matches. */
function relevantIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const matchingVariants = issue.errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  const [variant] = matchingVariants;
  if (matchingVariants.length !== 1 || !variant) return [issue];
  return variant
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

const tooLargeMessage = (maxBytes: number, exception = ""): string =>
  `The body is larger than ${Math.floor(maxBytes / MIB)} MiB${exception}.`;

const bodyLimit = (maxBytes: number): BodyLimit => ({
  ...{ maxBytes, message: tooLargeMessage(maxBytes) },
  ...{ onWait: () => undefined, onBytes: async () => undefined },
});

/** Matches up to the first character of a value of `data`. */
const DATA_VALUE_START = /"data"\s*:\s*"/g;
/** Shorter values of `data` do not count as attachments. */
const MIN_ATTACHMENT_CHARS = 1_000;

/**
 * Total size of the attachments in the text. Does not parse the text, because parsed JSON can need
 * many times the size of its text. If a value contains an escaped quote, only the part before the
 * quote counts.
 */
function attachmentBytesIn(text: string, size: number): number {
  if (size <= MAX_BODY_BYTES) return 0;
  let sum = 0;
  for (const { index, 0: matchedText } of text.matchAll(DATA_VALUE_START)) {
    const start = index + matchedText.length;
    const length = text.indexOf('"', start) - start;
    if (length >= MIN_ATTACHMENT_CHARS) sum += length;
  }
  return sum;
}

async function readText(
  request: Request,
  { maxBytes, message, onWait, onBytes }: BodyLimit,
  encodingCode: "bad_json" | "request_invalid" = "bad_json",
): Promise<{ text: string; size: number }> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes)
    throw new ApiError("body_too_large", message);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new ApiError(
        encodingCode,
        "The body is not UTF-8. Save it as UTF-8 and send it again.",
      );
    }
  };
  const parts: string[] = [];
  let size = 0;
  try {
    onWait();
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new ApiError("body_too_large", message);
      await onBytes(chunk.byteLength, size);
      parts.push(decode(chunk));
      onWait();
    }
    await onBytes(0, size); // reports that the whole body has arrived
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The platform reports a lost connection for a disconnected client and for invalid chunks.
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
