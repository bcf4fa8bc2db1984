import { createInterface, type Interface } from "node:readline";
import type { Input } from "../io";
import { KeyStream } from "./paste";

export type EditorInput = { kind: "text"; text: string } | { kind: "interrupt" } | { kind: "end" };
type EditorOptions = {
  input: Input;
  output: NodeJS.WritableStream;
  prompt: string;
  /** Newest first. Submitted entries are added. */
  history: string[];
  complete?: (line: string) => [string[], string];
};

/** Without bracketed paste, lines that arrive within this time are a paste. */
const PASTE_MS = 40;
const MAX_HISTORY = 500;
/** The prompt of a continuation line. */
const MORE = "… ";

/**
 * Reads one entry: a line, or several lines that were pasted or end in a backslash. Pasted text is
 * submitted only by Enter. `interrupt`: Ctrl+C on an empty line; otherwise Ctrl+C clears the line.
 * `end`: Ctrl+D, or the end of the input.
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
  #burst = 0;
  #timer: NodeJS.Timeout | undefined;
  #isFinished = false;

  constructor(
    readonly options: EditorOptions,
    readonly resolve: (typed: EditorInput) => void,
  ) {
    const { input, output, prompt, history, complete } = options;
    this.#keys = new KeyStream(input, (text) => this.#pasted(text));
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
    this.#editor.on("line", (line) => this.#entered(line));
    this.#editor.on("SIGINT", () => this.#interrupted());
    // Lines without Enter are not sent: the terminal may be gone, and a question costs money.
    this.#editor.on("close", () =>
      this.#finish(this.#burst === 1 ? { kind: "text", text: this.#text() } : { kind: "end" }),
    );
    this.#editor.prompt();
  }

  /** Inserts pasted text at the cursor. */
  #pasted(text: string): void {
    if (this.#isFinished) return;
    clearTimeout(this.#timer);
    const tail = this.#editor.line.slice(this.#editor.cursor);
    this.#isPasting = true;
    if (tail !== "") this.#editor.write(null, { ctrl: true, name: "k" });
    this.#editor.write(text + tail);
    this.#isPasting = false;
  }

  #entered(line: string): void {
    clearTimeout(this.#timer);
    const isContinued = !this.#isPasting && line.endsWith("\\");
    this.#lines.push(isContinued ? line.slice(0, -1) : line);
    if (isContinued || this.#isPasting) return this.#promptForMore();
    this.#burst += 1;
    this.#timer = setTimeout(() => this.#submit(), PASTE_MS);
  }

  /** Several lines without a pause are an unmarked paste, which also waits for Enter. */
  #submit(): void {
    const isPaste = this.#burst > 1 || this.#editor.line !== "";
    this.#burst = 0;
    if (!isPaste) return this.#finish({ kind: "text", text: this.#text() });
    if (this.#editor.line === "") this.#promptForMore();
  }

  #promptForMore(): void {
    this.#editor.setPrompt(MORE);
    this.#editor.prompt();
  }

  #interrupted(): void {
    if (this.#editor.line === "" && this.#lines.length === 0)
      return this.#finish({ kind: "interrupt" });
    clearTimeout(this.#timer);
    this.#lines.length = 0;
    this.#burst = 0;
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

  #finish(typed: EditorInput): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#timer);
    this.#editor.close();
    this.#keys.release();
    const { history } = this.options;
    if (typed.kind === "text" && typed.text.trim() !== "")
      history.unshift(typed.text.replaceAll("\n", " "));
    history.length = Math.min(history.length, MAX_HISTORY);
    this.resolve(typed);
  }
}
