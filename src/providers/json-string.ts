/**
 * A decoded part of a string, and why decoding stopped. `quote`: `end` is the offset after the
 * closing quotation mark. `cut`: the text ends before the string does; `end` is the end of the
 * text, or the offset of the backslash of an incomplete escape. `invalid`: `end` is the offset of
 * the backslash of an invalid escape.
 */
type StringPart = { text: string; end: number; stop: "quote" | "cut" | "invalid" };

/** Length of a Unicode escape: `\u` and four digits. */
export const UNICODE_ESCAPE_CHARS = 6;

/**
 * Decodes a string of a JSON text, beginning at an offset inside the string. The text may end
 * anywhere, even inside an escape. Unlike a JSON parser, this function accepts line breaks and
 * unknown escapes.
 */
export function readString(raw: string, from: number): StringPart {
  const parts: string[] = [];
  let at = from;
  for (;;) {
    const special = nextSpecial(raw, at);
    parts.push(raw.slice(at, special));
    if (raw[special] === '"') return { text: parts.join(""), end: special + 1, stop: "quote" };
    const escaped = escapeAt(raw, special);
    if (typeof escaped === "string") return { text: parts.join(""), end: special, stop: escaped };
    parts.push(escaped.text);
    at = escaped.end;
  }
}

/** Offset of the next quotation mark or backslash, or of the end of the text. */
function nextSpecial(raw: string, from: number): number {
  let at = from;
  while (at < raw.length && raw[at] !== '"' && raw[at] !== "\\") at += 1;
  return at;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** The escape that begins at a backslash. `cut` if the text ends inside it. */
function escapeAt(
  raw: string,
  backslash: number,
): { text: string; end: number } | "cut" | "invalid" {
  const letter = raw[backslash + 1];
  if (letter === undefined) return "cut";
  if (letter !== "u") return { text: ESCAPES[letter] ?? letter, end: backslash + 2 };
  const end = backslash + UNICODE_ESCAPE_CHARS;
  if (raw.length < end) return "cut";
  const digits = raw.slice(backslash + 2, end);
  if (!/^[0-9a-f]{4}$/i.test(digits)) return "invalid";
  return { text: String.fromCharCode(Number.parseInt(digits, 16)), end };
}
