import { readString } from "../providers/json-string";

/**
 * Reads `content` from the arguments of a `new_answer` call that may be cut anywhere, even inside
 * an escape. Unlike a JSON parser it is lenient: line breaks inside a string are accepted, and it
 * stops at the first invalid part.
 */

/** The decoded `content` as far as it was written; "" if it has not started. */
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

type Read = { text: string; end: number; closed: boolean };

/** The string that starts at a quotation mark; `null` if there is none. */
function stringAt(raw: string, quote: number): Read | null {
  if (raw[quote] !== '"') return null;
  const { text, end, stop } = readString(raw, quote + 1);
  const closed = stop === "quote";
  return { text, end: closed ? end : raw.length, closed };
}

/** Skips a number, word, list or object, to its comma or closing bracket, or the end. */
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

/** Removes a lone high surrogate at the end. */
function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  const halved = last >= 0xd800 && last <= 0xdbff;
  return (halved ? text.slice(0, -1) : text).toWellFormed();
}
