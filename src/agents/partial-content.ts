import { readString } from "../providers/json-string";

/**
 * Reads `content` from the JSON arguments of a `new_answer` call. The arguments may be cut
 * anywhere, even inside an escape. Unlike a JSON parser, this reader accepts line breaks inside a
 * string, and it stops at the first invalid part without an error.
 */

/** The decoded `content` as far as it was received; "" if it has not started. */
export function partialContent(rawArguments: string): string {
  let content = "";
  let at = skipSpace(rawArguments, 0);
  if (rawArguments[at] !== "{") return content;
  do {
    const key = stringAt(rawArguments, skipSpace(rawArguments, at + 1));
    if (!key?.closed) break;
    const colon = skipSpace(rawArguments, key.end);
    if (rawArguments[colon] !== ":") break;
    const start = skipSpace(rawArguments, colon + 1);
    const value = stringAt(rawArguments, start);
    if (key.text === "content" && value) content = value.text;
    at = skipSpace(rawArguments, value ? value.end : skipValue(rawArguments, start));
  } while (rawArguments[at] === ",");
  return wholeCharacters(content);
}

type JsonString = { text: string; end: number; closed: boolean };

/** The string that starts at a quotation mark; `null` if there is none. */
function stringAt(raw: string, quote: number): JsonString | null {
  if (raw[quote] !== '"') return null;
  const { text, end, stop } = readString(raw, quote + 1);
  const closed = stop === "quote";
  return { text, end: closed ? end : raw.length, closed };
}

/**
 * The index after a number, word, list or object: its comma, the bracket that closes the
 * surrounding object, or the end.
 */
function skipValue(raw: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < raw.length) {
    const char = raw[at] ?? "";
    if (depth === 0 && (char === "," || char === "}")) return at;
    if (char === "{" || char === "[") depth += 1;
    if (char === "}" || char === "]") depth -= 1;
    at = stringAt(raw, at)?.end ?? at + 1;
  }
  return at;
}

function skipSpace(raw: string, from: number): number {
  let at = from;
  while (raw[at] === " " || raw[at] === "\n" || raw[at] === "\r" || raw[at] === "\t") at += 1;
  return at;
}

/** Removes a high surrogate at the end, whose low surrogate is not received yet. */
function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  const endsInHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return (endsInHighSurrogate ? text.slice(0, -1) : text).toWellFormed();
}
