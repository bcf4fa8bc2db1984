import { isJsonObject, parseJson } from "./json";
import { delayInWords, durationMs } from "./retry-after";

/** Reads the error bodies of all providers. This file handles all known shapes. Never throws. */

/**
 * The content of an error body: `words` for users; `marks`, the codes and types that the rules
 * test; the HTTP status; and the delay before a retry. `undefined` if the body has none.
 */
type ErrorContent = {
  words: string;
  marks: readonly string[];
  status: number | undefined;
  waitMs: number | undefined;
};

/** Maximum length of an error's text. */
const MAX_WORDS = 8_000;
/** Maximum number of entries that are read from one list of an error. */
const MAX_DETAILS = 20;
/**
 * Maximum number of nested errors. Routers and gateways put the error of the upstream server into
 * their own, as an object or as JSON in a string.
 */
const MAX_NESTING = 4;

type Fields = Readonly<Record<string, unknown>>;

/** @param body text or parsed JSON */
export function readError(body: unknown): ErrorContent {
  const { words, marks, status, waitMs } = readLevel(body, MAX_NESTING);
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
      inner.joinsTexts && below.words !== ""
        ? `${own.words}: ${below.words}`.slice(0, MAX_WORDS)
        : below.words || own.words,
    marks: [...own.marks, ...below.marks],
    status: own.status ?? below.status,
    waitMs: own.waitMs ?? below.waitMs,
  };
}

/**
 * The nested error. `joinsTexts`: whether the texts of both errors are shown, because the outer
 * text says only that an upstream server failed.
 */
function innerOf(outer: Fields): { body: unknown; joinsTexts: boolean } | undefined {
  if (isJsonObject(outer["error"])) return { body: outer["error"], joinsTexts: false };
  if (listOf(outer["errors"]).some(isJsonObject) && !isText(outer["message"]))
    return { body: outer["errors"], joinsTexts: false };
  const quoted = [outer["message"], outer["error"]]
    .map(quotedError)
    .find((error) => error !== undefined);
  if (quoted) return { body: quoted, joinsTexts: false };
  const raw = isJsonObject(outer["metadata"]) ? outer["metadata"]["raw"] : undefined;
  return isText(raw) || isJsonObject(raw) ? { body: raw, joinsTexts: true } : undefined;
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

/** The HTTP status in an error. Some servers send it as the code of an error inside a stream. */
function statusIn(code: unknown): number | undefined {
  const value = typeof code === "string" ? Number(code) : code;
  return typeof value === "number" && value >= 400 && value < 600 ? value : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/**
 * The error that a text quotes as JSON. Gateways quote the error of the upstream server in this
 * way.
 */
function quotedError(text: unknown): Fields | undefined {
  if (!isText(text) || !/"(error|message|detail)"\s*:/.test(text)) return undefined;
  const quoted = parseJson(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  return isJsonObject(quoted) ? quoted : undefined;
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, MAX_DETAILS) : [];
