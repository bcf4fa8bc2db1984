import { createInterface } from "node:readline";
import type { Input } from "./io";

export type Typed = { kind: "text"; text: string } | { kind: "interrupt" } | { kind: "end" };
export type EditorOptions = {
  input: Input;
  output: NodeJS.WritableStream;
  prompt: string;
  /** The newest first; what is typed is added to it. */
  history: string[];
  complete?: (line: string) => [string[], string];
};

/** Lines this close together were pasted, not typed. */
const PASTE_MS = 40;
const MAX_HISTORY = 500;
/** The prompt of a line that goes on. */
const MORE = "… ";

/**
 * Reads one entry: a line, or several if they were pasted, or if lines end in a backslash. `interrupt`: Ctrl+C on an empty line;
 * on any other it only empties the line. `end`: Ctrl+D, or the input is over.
 */
export function readEntry({ input, output, prompt, history, complete }: EditorOptions): Promise<Typed> {
  const editor = createInterface({
    input,
    output,
    prompt,
    history: [...history],
    historySize: MAX_HISTORY,
    removeHistoryDuplicates: true,
    terminal: true,
    ...(complete ? { completer: complete } : {}),
  });
  const lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let finished = false;
  return new Promise((resolve) => {
    const finish = (typed: Typed) => {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      editor.close();
      if (typed.kind === "text" && typed.text.trim() !== "") history.unshift(typed.text.replaceAll("\n", " "));
      history.length = Math.min(history.length, MAX_HISTORY);
      resolve(typed);
    };
    const submit = () => {
      if (editor.line !== "") return; // the end of what was pasted waits for Enter
      finish({ kind: "text", text: lines.join("\n") });
    };
    editor.on("line", (line) => {
      clearTimeout(timer);
      const goesOn = line.endsWith("\\");
      lines.push(goesOn ? line.slice(0, -1) : line);
      if (goesOn) editor.setPrompt(MORE);
      if (goesOn) editor.prompt();
      else timer = setTimeout(submit, PASTE_MS);
    });
    editor.on("SIGINT", () => {
      if (editor.line === "" && lines.length === 0) return finish({ kind: "interrupt" });
      lines.length = 0;
      editor.write(null, { ctrl: true, name: "e" });
      editor.write(null, { ctrl: true, name: "u" });
      output.write("^C\n");
      editor.setPrompt(prompt);
      editor.prompt();
    });
    editor.on("close", () => finish(lines.length > 0 ? { kind: "text", text: lines.join("\n") } : { kind: "end" }));
    editor.prompt();
  });
}
