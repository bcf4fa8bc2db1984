/**
 * JSON without constructs that parsers treat in different ways: duplicate keys, numbers beyond the
 * range of a double, unpaired surrogates, deep nesting. Takes linear time and does not recurse.
 */

/** Far above the depth of any request. */
export const MAX_JSON_DEPTH = 64;

/** Why a text is refused. The message is for people and quotes at most a short part. */
export class JsonRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JsonRefusal";
  }
}

const MAX_QUOTED_CHARS = 60;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The value of a JSON text. Throws `JsonRefusal` for anything else. */
export function parseStrictJson(text: string): unknown {
  const value = parse(text);
  // The scan assumes valid JSON.
  new Scan(text).run();
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonRefusal(
      error instanceof Error ? error.message.slice(0, 200).toWellFormed() : "it cannot be parsed",
    );
  }
}

class Scan {
  readonly #text: string;
  /** Keys of each open object; `null` for an array. */
  readonly #open: (Set<string> | null)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    for (; this.#at < this.#text.length; this.#at += 1) this.#step(this.#text.charAt(this.#at));
  }

  #step(char: string): void {
    if (char === "{" || char === "[") this.#push(char === "{" ? new Set() : null);
    else if (char === "}" || char === "]") this.#open.pop();
    else if (char === '"') this.#string();
    else if (char === "-" || (char >= "0" && char <= "9")) this.#number();
  }

  #push(keys: Set<string> | null): void {
    if (this.#open.length >= MAX_JSON_DEPTH)
      throw new JsonRefusal(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
    this.#open.push(keys);
  }

  /** Ends at the closing quote. */
  #string(): void {
    const from = this.#at;
    let end = this.#text.indexOf('"', from + 1);
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#at = end;
    const raw = this.#text.slice(from, end + 1);
    const keys = this.#open.at(-1);
    const isKey = keys instanceof Set && this.#isKeyBefore(from);
    if (!isKey && !raw.includes("\\u")) return;
    const value = raw.includes("\\") ? String(JSON.parse(raw)) : raw.slice(1, -1);
    if (!value.isWellFormed()) throw new JsonRefusal("a string has an unpaired surrogate");
    if (!isKey) return;
    if (keys.has(value))
      throw new JsonRefusal(
        `the key ${JSON.stringify(value.slice(0, MAX_QUOTED_CHARS))} is duplicated`,
      );
    keys.add(value);
  }

  /** Whether an odd number of backslashes precedes the quote. */
  #isEscaped(quote: number): boolean {
    let from = quote;
    while (this.#text.charAt(from - 1) === "\\") from -= 1;
    return (quote - from) % 2 === 1;
  }

  /** A string directly inside an object is a key unless it follows a colon. */
  #isKeyBefore(from: number): boolean {
    let before = from - 1;
    while (/\s/.test(this.#text.charAt(before))) before -= 1;
    return this.#text.charAt(before) !== ":";
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const raw = NUMBER.exec(this.#text)?.[0] ?? "";
    if (!Number.isFinite(Number(raw)))
      throw new JsonRefusal(`the number ${raw.slice(0, MAX_QUOTED_CHARS)} is too large`);
    this.#at += Math.max(0, raw.length - 1);
  }
}
