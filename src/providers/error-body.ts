import { isJsonObject, parseJson } from "./json";
import { delayInWords, durationMs } from "./retry-after";

/** Reads the error bodies of all providers. All known shapes are here. Never throws. */

/**
 * The content of an error body: text for people, marks for the rules, HTTP status, and delay before
 * a retry.
 */
type ErrorContent = {
  words: string;
  marks: readonly string[];
  status: number | undefined;
  waitMs: number | undefined;
};

/** Limits on the characters of an error's text and on the entries of one of its lists. */
const MAX_WORDS = 8_000;
const MAX_DETAILS = 20;
/**
 * Routers and gateways nest the upstream server's error in their own, as an object or as JSON in a
 * string.
 */
const DEEPEST = 4;

type Fields = Readonly<Record<string, unknown>>;

/** @param body text or parsed JSON */
export function readError(body: unknown): ErrorContent {
  const { words, marks, status, waitMs } = readLevel(body, DEEPEST);
  return { words, marks, status, waitMs: waitMs ?? delayInWords(words) };
}

function readLevel(body: unknown, depth: number): ErrorContent {
  const parsed = typeof body === "string" ? (parseJson(body) ?? body) : body;
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJsonObject(outer))
    return { words: plainWords(outer), marks: [], status: undefined, waitMs: undefined };
  const own = readFields(outer);
  const inner = depth > 0 ? innerOf(outer) : undefined;
  if (inner === undefined) return own;
  const below = readLevel(inner.body, depth - 1);
  return {
    words:
      inner.adds && below.words !== ""
        ? `${own.words}: ${below.words}`.slice(0, MAX_WORDS)
        : below.words || own.words,
    marks: [...own.marks, ...below.marks],
    status: own.status ?? below.status,
    waitMs: own.waitMs ?? below.waitMs,
  };
}

/**
 * The nested error. `adds`: use the texts of both levels, because the outer one says only that an
 * upstream failed.
 */
function innerOf(outer: Fields): { body: unknown; adds: boolean } | undefined {
  if (isJsonObject(outer["error"])) return { body: outer["error"], adds: false };
  if (listOf(outer["errors"]).some(isJsonObject) && !isText(outer["message"]))
    return { body: outer["errors"], adds: false };
  const quoted = [outer["message"], outer["error"]]
    .map(quotedError)
    .find((one) => one !== undefined);
  if (quoted) return { body: quoted, adds: false };
  const raw = isJsonObject(outer["metadata"]) ? outer["metadata"]["raw"] : undefined;
  return isText(raw) || isJsonObject(raw) ? { body: raw, adds: true } : undefined;
}

function readFields(error: Fields): ErrorContent {
  const details = [...listOf(error["details"]), ...listOf(error["errors"])].filter(isJsonObject);
  const violations = details.flatMap((detail) => listOf(detail["violations"])).filter(isJsonObject);
  const innerError = isJsonObject(error["innererror"]) ? error["innererror"] : {};
  const marks = [
    ...[error["code"], error["type"], error["status"], innerError["code"]],
    ...details.map((detail) => detail["reason"]),
    ...violations.map((violation) => violation["quotaId"]),
  ];
  const delay = details.map((detail) => detail["retryDelay"]).find(isText);
  return {
    words: wordsOf(error),
    marks: marks.filter(isText),
    status: statusIn(error["code"]) ?? statusIn(error["status"]),
    waitMs: delay === undefined ? undefined : durationMs(delay),
  };
}

function wordsOf(error: Fields): string {
  const candidates = [
    error["message"],
    error["error"],
    error["detail"],
    error["error_description"],
    error["title"],
  ];
  return (candidates.find(isText) ?? JSON.stringify(error)).slice(0, MAX_WORDS);
}

function plainWords(body: unknown): string {
  if (typeof body !== "string")
    return body === undefined || body === null ? "" : JSON.stringify(body).slice(0, MAX_WORDS);
  if (!/^\s*<(!doctype|html|head|body)/i.test(body)) return body.trim().slice(0, MAX_WORDS);
  const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  return title ? `an HTML page: ${title}` : "an HTML page";
}

/** Inside a stream, some servers send the HTTP status as the error's code. */
function statusIn(code: unknown): number | undefined {
  const value = typeof code === "string" ? Number(code) : code;
  return typeof value === "number" && value >= 400 && value < 600 ? value : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** The error that a text contains as JSON, which is how gateways quote the upstream server. */
function quotedError(text: unknown): Fields | undefined {
  if (!isText(text) || !/"(error|message|detail)"\s*:/.test(text)) return undefined;
  const quoted = parseJson(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  return isJsonObject(quoted) ? quoted : undefined;
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, MAX_DETAILS) : [];
