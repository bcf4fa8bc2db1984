import { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Input } from "../io";

/**
 * Turns bracketed paste on and off. The terminal then marks pasted text, so that a line feed in it
 * is text and not the Enter key. See "Bracketed Paste Mode" in xterm's control sequences.
 */
export const PASTE_MODE = { on: "\x1b[?2004h", off: "\x1b[?2004l" };

const BEGIN_MARK = "\x1b[200~";
const END_MARK = "\x1b[201~";
/**
 * Longest wait for the rest of a mark. A mark begins with the character of the Escape key: without
 * more input in this time, it was the key.
 */
const ESCAPE_MS = 50;
const INTERRUPT = "\x03";

/** `onKeys` receives keys unchanged. `onPaste` receives pasted text in chunks. */
export type Sinks = { onKeys: (keys: string) => void; onPaste: (text: string) => void };

/** Separates keys from pasted text, even if a mark is split over two reads. */
export class PasteSplitter {
  readonly #decoder = new StringDecoder("utf8");
  /** Text at the end of the last read that may be the beginning of a mark. */
  #possibleMark = "";
  #isPasting = false;
  #endsInReturn = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly sinks: Sinks) {}

  push(chunk: Buffer | string): void {
    clearTimeout(this.#timer);
    let rest =
      this.#possibleMark + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    this.#possibleMark = "";
    // If the end mark of a paste is lost, every key would count as pasted text. Ctrl+C alone ends
    // the paste.
    if (this.#isPasting && rest === INTERRUPT) this.#isPasting = false;
    while (rest !== "") rest = this.#forwardUntilMark(rest);
    if (this.#possibleMark !== "" && !this.#isPasting)
      this.#timer = setTimeout(() => this.flush(), ESCAPE_MS);
  }

  /** Forwards the text that was kept as the possible beginning of a mark. */
  flush(): void {
    clearTimeout(this.#timer);
    const text = this.#possibleMark;
    this.#possibleMark = "";
    this.#forward(text);
  }

  /** Forwards the text before the next mark, and returns the text after the mark. */
  #forwardUntilMark(text: string): string {
    const mark = this.#isPasting ? END_MARK : BEGIN_MARK;
    const index = text.indexOf(mark);
    if (index >= 0) {
      this.#forward(text.slice(0, index));
      this.#isPasting = !this.#isPasting;
      return text.slice(index + mark.length);
    }
    const end = text.length - markPrefixLength(mark, text);
    this.#forward(text.slice(0, end));
    this.#possibleMark = text.slice(end);
    return "";
  }

  #forward(text: string): void {
    if (text === "") return;
    if (!this.#isPasting) return this.sinks.onKeys(text);
    const joined = this.#endsInReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#endsInReturn = text.endsWith("\r");
    const clean = toCleanText(joined);
    if (clean !== "") this.sinks.onPaste(clean);
  }
}

/** The number of characters at the end of `text` that may be the beginning of `mark`. */
function markPrefixLength(mark: string, text: string): number {
  for (let length = mark.length - 1; length > 0; length--)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

/**
 * Cleans pasted text. Terminals send a line feed as a carriage return. Other control characters are
 * removed, because they would act as keys.
 */
const toCleanText = (pasted: string): string =>
  pasted.replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "");

/**
 * A stream for `readline` that contains only the keys of `source`. Pasted text is passed to
 * `onPaste`.
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
  /** Stops reading from the source, so that other code can read it. */
  release(): void {
    this.#splitter.flush();
    this.source.off("data", this.#onData);
    this.source.off("end", this.#onEnd);
  }
}
