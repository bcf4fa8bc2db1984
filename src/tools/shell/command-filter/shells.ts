import { isNode, listOf, type Pieces, piecesOf, UNKNOWN, wholeText } from "./text";

/** Where a shell that a command starts reads its commands from. */
export type ShellSource =
  | { kind: "text"; text: string }
  /**
   * Commands that are not known: a file, standard input, or a text that is known only at run time.
   */
  | { kind: "unseen"; what: string };

const SHELLS = new Set(["bash", "sh", "dash", "ash", "zsh", "ksh", "mksh"]);
export const isShell = (name: string): boolean => SHELLS.has(name);

const UNKNOWN_TEXT: ShellSource = {
  kind: "unseen",
  what: "a text that is known only when it runs",
};
/** Options with which the shell does not read a file or its input first. */
const HARMLESS_OPTIONS = /^[-+][abefhkmnptuvxBCEHPT]+$/;

/**
 * The source of the commands of a shell. `redirections` are those of the command that starts the
 * shell: a here-document is the shell's input.
 */
export function shellSource(
  args: readonly Pieces[],
  redirections: readonly unknown[],
): ShellSource {
  for (let index = 0; index < args.length; index++) {
    const arg = wholeText(args[index] ?? []);
    if (arg === null) return UNKNOWN_TEXT;
    if (/^-[abefhkmnptuvxBCEHPT]*c$/.test(arg)) return textAfterOptions(args, index + 1);
    if (/^[-+][oO]$/.test(arg)) index++;
    else if (arg === "--" || !/^[-+]/.test(arg)) return { kind: "unseen", what: "a script file" };
    else if (!HARMLESS_OPTIONS.test(arg)) return UNKNOWN_TEXT;
  }
  return sourceFromInput(redirections);
}

/** The text after `-c`. Options may come before the text. */
function textAfterOptions(args: readonly Pieces[], from: number): ShellSource {
  let index = from;
  while (HARMLESS_OPTIONS.test(wholeText(args[index] ?? []) ?? "")) index++;
  if (wholeText(args[index] ?? []) === "--") index++;
  const text = wholeText(args[index] ?? UNKNOWN);
  return text === null || /^[-+]/.test(text) ? UNKNOWN_TEXT : { kind: "text", text };
}

/**
 * The text on standard input, if it is a here-document. The last redirection of the input applies.
 */
function sourceFromInput(redirections: readonly unknown[]): ShellSource {
  const inputs = redirections.filter(
    (redirection) =>
      isNode(redirection) &&
      typeof redirection["fdVariable"] !== "string" &&
      (redirection["fd"] === null || redirection["fd"] === 0),
  );
  const last = inputs.findLast(
    (input) => isNode(input) && /^<|^<>$/.test(String(input["operator"])),
  );
  if (!isNode(last)) return { kind: "unseen", what: "its input" };
  const { operator, target } = last;
  const word = isNode(target) && target["type"] === "HereDoc" ? target["content"] : target;
  const text = /^<<[-<]?$/.test(String(operator)) ? wholeText(piecesOf(word)) : null;
  return text === null ? { kind: "unseen", what: "its input" } : { kind: "text", text };
}

/** The text that `eval` or `trap` runs; `null` if it is unknown. */
export function evaluatedText(name: string, args: readonly Pieces[]): string | null {
  const words = args.map(wholeText);
  const operands = words[0] === "--" ? words.slice(1) : words;
  const evaluatedWords = name === "trap" ? operands.slice(0, 1) : operands;
  if (evaluatedWords.some((word) => word === null)) return null;
  if (name === "trap" && /^-[lp]?$/.test(evaluatedWords[0] ?? "")) return "";
  return evaluatedWords.join(" ");
}

/** The words of a simple command in the syntax tree. Empty if the command only sets variables. */
export function wordsOf(command: Readonly<Record<string, unknown>>): Pieces[] {
  if (!isNode(command["name"])) return [];
  return [piecesOf(command["name"]), ...listOf(command["args"]).map(piecesOf)];
}
