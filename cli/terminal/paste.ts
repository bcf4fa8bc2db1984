import { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Input } from "../io";

/**
 * Turns bracketed paste on and off. The terminal then marks pasted text, so that a line feed in it
 * is text and not the Enter key. See "Bracketed Paste Mode" in xterm's control sequences.
 */
export const PASTE_MODE = { on: "\x1b[?2004h", off: "\x1b[?2004l" };

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";
/** A mark begins like the Escape key. Without more input in this time, it is the key. */
const ESCAPE_MS = 50;
const INTERRUPT = "\x03";

/** `onKeys` gets keys unchanged. `onPaste` gets pasted text in chunks. */
export type Sinks = { onKeys: (keys: string) => void; onPaste: (text: string) => void };

/** Separates keys from pasted text, also if a mark is split over two reads. */
export class PasteSplitter {
  readonly #decoder = new StringDecoder("utf8");
  #held = "";
  #isPasting = false;
  #endsInReturn = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly sinks: Sinks) {}

  push(chunk: Buffer | string): void {
    clearTimeout(this.#timer);
    let rest = this.#held + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#held = "";
    // If the end mark of a paste is lost, every key would count as pasted text. Ctrl+C alone ends
    // the paste.
    if (this.#isPasting && rest === INTERRUPT) this.#isPasting = false;
    while (rest !== "") rest = this.#take(rest);
    if (this.#held !== "" && !this.#isPasting)
      this.#timer = setTimeout(() => this.flush(), ESCAPE_MS);
  }

  /** Passes on text that was held back as a possible mark. */
  flush(): void {
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = "";
    this.#pass(held);
  }

  /** Passes on the text before the next mark and returns the text after the mark. */
  #take(text: string): string {
    const mark = this.#isPasting ? END : BEGIN;
    const at = text.indexOf(mark);
    if (at >= 0) {
      this.#pass(text.slice(0, at));
      this.#isPasting = !this.#isPasting;
      return text.slice(at + mark.length);
    }
    const held = beginningOf(mark, text);
    this.#pass(text.slice(0, text.length - held));
    this.#held = text.slice(text.length - held);
    return "";
  }

  #pass(text: string): void {
    if (text === "") return;
    if (!this.#isPasting) return this.sinks.onKeys(text);
    const joined = this.#endsInReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#endsInReturn = text.endsWith("\r");
    const clean = toText(joined);
    if (clean !== "") this.sinks.onPaste(clean);
  }
}

/** How many characters at the end of `text` may be the beginning of `mark`. */
function beginningOf(mark: string, text: string): number {
  for (let length = mark.length - 1; length > 0; length--)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/** Terminals send line feeds as returns. Other control characters would be keys. */
const toText = (pasted: string): string =>
  pasted.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");

/**
 * A stream for `readline` with the keys of `source`. Pasted text is passed to `onPaste` instead.
 */
export class KeyStream extends Readable {
  readonly #splitter: PasteSplitter;
  readonly #onData = (chunk: Buffer | string) => this.#splitter.push(chunk);
  readonly #onEnd = () => {
    this.#splitter.flush();
    this.emit("end");
  };

  constructor(
    readonly source: Input,
    onPaste: (text: string) => void,
  ) {
    super();
    // `emit` is synchronous: keys arrive before pasted text that follows them in the same read.
    this.#splitter = new PasteSplitter({ onPaste, onKeys: (keys) => void this.emit("data", keys) });
    source.on("data", this.#onData);
    source.on("end", this.#onEnd);
    if (source.readableEnded) queueMicrotask(this.#onEnd);
  }

  setRawMode(mode: boolean): this {
    this.source.setRawMode?.(mode);
    return this;
  }
  override _read(): void {}
  override pause(): this {
    this.source.pause();
    return this;
  }
  override resume(): this {
    this.source.resume();
    return this;
  }
  /** Stops reading from the source, so that others can read it. */
  release(): void {
    this.#splitter.flush();
    this.source.off("data", this.#onData);
    this.source.off("end", this.#onEnd);
  }
}
