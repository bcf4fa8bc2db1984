import { type Line, segment } from "./output";
import { toLine } from "./sanitize";
import { fitEnd, fitStart, widthOf } from "./text-width";

/** What the keys of the user mean: a finished entry, or Ctrl+C on an empty line. */
export type TypedEntry = { kind: "entry"; text: string } | { kind: "interrupt" };

const ESCAPE = "\x1b";
/** The rest of a key that begins with Escape. */
const SEQUENCE = /^(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z]|[\s\S])/;
const PROMPT = "> ";
const CURSOR = "▏";

/**
 * A line that the user edits while other lines are drawn above it. It has the usual keys of a line
 * editor, but no history.
 */
export class TypingLine {
  /** Characters before and after the cursor. */
  #before: string[] = [];
  #rest: string[] = [];

  get text(): string {
    return [...this.#before, ...this.#rest].join("");
  }

  /** Replaces the text. */
  set(text: string): void {
    this.#before = [...text];
    this.#rest = [];
  }

  /** Inserts pasted text at the cursor. */
  paste(text: string): void {
    this.#before.push(...text);
  }

  /**
   * Applies keys, and returns what they finish. Several lines at once are an unmarked paste, which
   * waits for Enter.
   */
  press(keys: string): TypedEntry[] {
    if (/[\r\n][^\r\n]/.test(keys)) {
      this.paste(keys.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, ""));
      return [];
    }
    return keysIn(keys).flatMap((key) => this.#press(key) ?? []);
  }

  /** The line with its cursor, cut to `width` columns around the cursor. */
  render(width: number): Line {
    const columns = Math.max(1, width - PROMPT.length - 1);
    const start = fitEnd(toLine(this.#before.join("")), columns);
    const end = fitStart(toLine(this.#rest.join("")), columns - widthOf(start));
    return [segment(PROMPT, "bold"), segment(start), segment(CURSOR, "busy"), segment(end)];
  }

  #press(key: string): TypedEntry | null {
    switch (key) {
      case "\r":
      case "\n":
        return this.#submit();
      case "\x03":
        if (this.text === "") return { kind: "interrupt" };
        this.set("");
        return null;
      default:
        this.#edit(key);
        return null;
    }
  }

  #edit(key: string): void {
    switch (key) {
      case "\x7f":
      case "\b":
        this.#before.pop();
        return;
      case "\x1b[3~":
        this.#rest.shift();
        return;
      case "\x15":
        this.#before = [];
        return;
      case "\x0b":
        this.#rest = [];
        return;
      case "\x17":
        this.#before = [...this.#before.join("").replace(/\S*\s*$/, "")];
        return;
      default:
        this.#move(key);
    }
  }

  #move(key: string): void {
    switch (key) {
      case "\x1b[D":
      case "\x02":
        this.#rest.unshift(...this.#before.splice(-1));
        return;
      case "\x1b[C":
      case "\x06":
        this.#before.push(...this.#rest.splice(0, 1));
        return;
      case "\x1b[H":
      case "\x01":
        this.#rest = [...this.#before.splice(0), ...this.#rest];
        return;
      case "\x1b[F":
      case "\x05":
        this.#before = [...this.#before, ...this.#rest.splice(0)];
        return;
      default:
        if (!/\p{Cc}/u.test(key)) this.#before.push(key);
    }
  }

  /** A line that ends in a backslash continues. An empty line is no entry. */
  #submit(): TypedEntry | null {
    const { text } = this;
    if (text.endsWith("\\")) {
      this.set(`${text.slice(0, -1)}\n`);
      return null;
    }
    this.set("");
    return text.trim() === "" ? null : { kind: "entry", text };
  }
}

/** The keys in a text: escape sequences and characters. */
function keysIn(text: string): string[] {
  const keys: string[] = [];
  for (let from = 0; from < text.length; from += keys.at(-1)?.length ?? 1)
    keys.push(keyAt(text.slice(from)));
  return keys;
}

function keyAt(text: string): string {
  if (!text.startsWith(ESCAPE)) return String.fromCodePoint(text.codePointAt(0) ?? 0);
  return ESCAPE + (SEQUENCE.exec(text.slice(1))?.[0] ?? "");
}
