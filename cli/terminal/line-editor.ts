import { createInterface, type Interface } from "node:readline";
import type { Input } from "../io";
import { KeyStream } from "./paste";

export type EditorInput = { kind: "text"; text: string } | { kind: "interrupt" } | { kind: "end" };
type EditorOptions = {
  input: Input;
  output: NodeJS.WritableStream;
  prompt: string;
  /** Earlier entries, newest first. `readEntry` adds the submitted entry. */
  history: string[];
  complete?: (line: string) => [string[], string];
  /** Text that the entry begins with. Omitted: none. */
  initial?: string;
};

/** Without bracketed paste, several lines that arrive within this time are treated as one paste. */
const PASTE_MS = 40;
const MAX_HISTORY = 500;
/** The prompt of a continuation line. */
const CONTINUATION_PROMPT = "… ";

/**
 * Reads one entry: a line, or several lines that were pasted or end in a backslash. Pasted text is
 * submitted only by Enter. Ctrl+C on an empty line returns `interrupt`; otherwise it clears the
 * line. Ctrl+D, or the end of the input, returns `end`.
 */
export function readEntry(options: EditorOptions): Promise<EditorInput> {
  return new Promise((resolve) => new Entry(options, resolve).begin());
}

class Entry {
  readonly #editor: Interface;
  readonly #keys: KeyStream;
  readonly #lines: string[] = [];
  #isPasting = false;
  /** Number of lines that arrived without a pause. */
  #linesInBurst = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFinished = false;

  constructor(
    readonly options: EditorOptions,
    readonly resolve: (entry: EditorInput) => void,
  ) {
    const { input, output, prompt, history, complete } = options;
    this.#keys = new KeyStream(input, (text) => this.#onPaste(text));
    this.#editor = createInterface({
      input: this.#keys,
      output,
      prompt,
      history: [...history],
      historySize: MAX_HISTORY,
      removeHistoryDuplicates: true,
      terminal: true,
      ...(complete ? { completer: complete } : {}),
    });
  }

  begin(): void {
    this.#editor.on("line", (line) => this.#onLine(line));
    this.#editor.on("SIGINT", () => this.#onInterrupt());
    // Several lines without a final Enter are not sent: the terminal may have been closed during a
    // paste, and a question costs money.
    this.#editor.on("close", () =>
      this.#finish(
        this.#linesInBurst === 1 ? { kind: "text", text: this.#text() } : { kind: "end" },
      ),
    );
    this.#editor.prompt();
    if (this.options.initial) this.#onPaste(this.options.initial);
  }

  /** Inserts pasted text at the cursor. */
  #onPaste(text: string): void {
    if (this.#isFinished) return;
    clearTimeout(this.#timer);
    const tail = this.#editor.line.slice(this.#editor.cursor);
    this.#isPasting = true;
    if (tail !== "") this.#editor.write(null, { ctrl: true, name: "k" });
    this.#editor.write(text + tail);
    this.#isPasting = false;
  }

  #onLine(line: string): void {
    clearTimeout(this.#timer);
    const isContinued = !this.#isPasting && line.endsWith("\\");
    this.#lines.push(isContinued ? line.slice(0, -1) : line);
    if (isContinued || this.#isPasting) return this.#promptForMore();
    this.#linesInBurst += 1;
    this.#timer = setTimeout(() => this.#submit(), PASTE_MS);
  }

  /**
   * Submits a single line. Several lines without a pause are an unmarked paste, which waits for
   * Enter.
   */
  #submit(): void {
    const isPaste = this.#linesInBurst > 1 || this.#editor.line !== "";
    this.#linesInBurst = 0;
    if (!isPaste) return this.#finish({ kind: "text", text: this.#text() });
    if (this.#editor.line === "") this.#promptForMore();
  }

  #promptForMore(): void {
    this.#editor.setPrompt(CONTINUATION_PROMPT);
    this.#editor.prompt();
  }

  #onInterrupt(): void {
    if (this.#editor.line === "" && this.#lines.length === 0)
      return this.#finish({ kind: "interrupt" });
    clearTimeout(this.#timer);
    this.#lines.length = 0;
    this.#linesInBurst = 0;
    this.#editor.write(null, { ctrl: true, name: "e" });
    this.#editor.write(null, { ctrl: true, name: "u" });
    this.options.output.write("^C\n");
    this.#editor.setPrompt(this.options.prompt);
    this.#editor.prompt();
  }

  /** The entry without the line feeds at the end of a paste. */
  #text(): string {
    return this.#lines.join("\n").replace(/\n+$/, "");
  }

  #finish(entry: EditorInput): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    this.#editor.close();
    this.#keys.release();
    const { history } = this.options;
    if (entry.kind === "text" && entry.text.trim() !== "")
      history.unshift(entry.text.replaceAll("\n", " "));
    history.length = Math.min(history.length, MAX_HISTORY);
    this.resolve(entry);
  }
}
