/**
 * Parses JSON, but refuses constructs that parsers treat in different ways: duplicate keys, numbers
 * beyond the range of a double, unpaired surrogates, deep nesting. The check needs linear time and
 * does not recurse.
 */

/** Much deeper than any valid request. */
export const MAX_JSON_DEPTH = 64;

/** States why a text is refused. The message is for people and quotes at most a short part. */
export class JsonRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JsonRefusal";
  }
}

const MAX_QUOTED_CHARS = 60;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Returns the value of a JSON text. Throws `JsonRefusal` for any other text. */
export function parseStrictJson(text: string): unknown {
  const value = parse(text);
  // The scan assumes valid JSON, so it runs after the parser.
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
  /** Objects and arrays that contain the position: keys of each object; `null` for an array. */
  readonly #openContainers: (Set<string> | null)[] = [];
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    for (; this.#position < this.#text.length; this.#position += 1)
      this.#step(this.#text.charAt(this.#position));
  }

  #step(char: string): void {
    if (char === "{" || char === "[") this.#push(char === "{" ? new Set() : null);
    else if (char === "}" || char === "]") this.#openContainers.pop();
    else if (char === '"') this.#string();
    else if (char === "-" || (char >= "0" && char <= "9")) this.#number();
  }

  #push(keys: Set<string> | null): void {
    if (this.#openContainers.length >= MAX_JSON_DEPTH)
      throw new JsonRefusal(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
    this.#openContainers.push(keys);
  }

  /** Moves the position to the closing quote. */
  #string(): void {
    const start = this.#position;
    let end = this.#text.indexOf('"', start + 1);
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#position = end;
    const raw = this.#text.slice(start, end + 1);
    const keys = this.#openContainers.at(-1);
    const isKey = keys instanceof Set && this.#followsNoColon(start);
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
    let start = quote;
    while (this.#text.charAt(start - 1) === "\\") start -= 1;
    return (quote - start) % 2 === 1;
  }

  /** Whether a string that starts here follows no colon. Such a string of an object is a key. */
  #followsNoColon(start: number): boolean {
    let before = start - 1;
    while (/\s/.test(this.#text.charAt(before))) before -= 1;
    return this.#text.charAt(before) !== ":";
  }

  #number(): void {
    NUMBER.lastIndex = this.#position;
    const raw = NUMBER.exec(this.#text)?.[0] ?? "";
    if (!Number.isFinite(Number(raw)))
      throw new JsonRefusal(`the number ${raw.slice(0, MAX_QUOTED_CHARS)} is too large`);
    this.#position += Math.max(0, raw.length - 1);
  }
}
