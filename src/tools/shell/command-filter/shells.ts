import { isNode, listOf, type Pieces, piecesOf, UNKNOWN, wholeText } from "./text";

/** The source of a started shell's commands. */
export type ShellSource =
  | { kind: "text"; text: string }
  /** A file, its input, or a text that is known only at run time. */
  | { kind: "unseen"; what: string };

const SHELLS = new Set(["bash", "sh", "dash", "ash", "zsh", "ksh", "mksh"]);
export const isShell = (name: string): boolean => SHELLS.has(name);

const NOT_KNOWN: ShellSource = { kind: "unseen", what: "a text that is known only when it runs" };
/** Options that do not make the shell read a file or its input first. */
const HARMLESS = /^[-+][abefhkmnptuvxBCEHPT]+$/;

/** `redirections` of the command that starts the shell; a here-document is its input. */
export function shellSource(
  args: readonly Pieces[],
  redirections: readonly unknown[],
): ShellSource {
  for (let at = 0; at < args.length; at++) {
    const arg = wholeText(args[at] ?? []);
    if (arg === null) return NOT_KNOWN;
    if (/^-[abefhkmnptuvxBCEHPT]*c$/.test(arg)) return textAfter(args, at + 1);
    if (/^[-+][oO]$/.test(arg)) at++;
    else if (arg === "--" || !/^[-+]/.test(arg)) return { kind: "unseen", what: "a script file" };
    else if (!HARMLESS.test(arg)) return NOT_KNOWN;
  }
  return ofInput(redirections);
}

/** Options may precede the text. */
function textAfter(args: readonly Pieces[], from: number): ShellSource {
  let at = from;
  while (HARMLESS.test(wholeText(args[at] ?? []) ?? "")) at++;
  if (wholeText(args[at] ?? []) === "--") at++;
  const text = wholeText(args[at] ?? UNKNOWN);
  return text === null || /^[-+]/.test(text) ? NOT_KNOWN : { kind: "text", text };
}

/** The last redirection of standard input applies. */
function ofInput(redirections: readonly unknown[]): ShellSource {
  const inputs = redirections.filter(
    (one) =>
      isNode(one) &&
      typeof one["fdVariable"] !== "string" &&
      (one["fd"] === null || one["fd"] === 0),
  );
  const last = inputs.findLast((one) => isNode(one) && /^<|^<>$/.test(String(one["operator"])));
  if (!isNode(last)) return { kind: "unseen", what: "its input" };
  const { operator, target } = last;
  const word = isNode(target) && target["type"] === "HereDoc" ? target["content"] : target;
  const text = /^<<[-<]?$/.test(String(operator)) ? wholeText(piecesOf(word)) : null;
  return text === null ? { kind: "unseen", what: "its input" } : { kind: "text", text };
}

/** The text that `eval` or a trap runs; `null` if unknown. */
export function evaluatedText(name: string, args: readonly Pieces[]): string | null {
  const words = args.map(wholeText);
  const own = words[0] === "--" ? words.slice(1) : words;
  const taken = name === "trap" ? own.slice(0, 1) : own;
  if (taken.some((word) => word === null)) return null;
  if (name === "trap" && /^-[lp]?$/.test(taken[0] ?? "")) return "";
  return taken.join(" ");
}

/** The words of a simple command in the syntax tree; empty if it only assigns. */
export function wordsOf(command: Readonly<Record<string, unknown>>): Pieces[] {
  if (!isNode(command["name"])) return [];
  return [piecesOf(command["name"]), ...listOf(command["args"]).map(piecesOf)];
}
