/**
 * What happens to an entry that the user finishes while a turn runs. Questions go into the queue of
 * the session at once. Commands wait until the turns have ended, except those about the queue and
 * the running turn. A question waits with them if a command before it can change what it means, for
 * example its team: entries take effect in the order in which they were typed.
 */

export type TypedEntry =
  /** Remove the queued question at this position. */
  | { kind: "remove"; position: number }
  /** Resume the held queue. */
  | { kind: "resume" }
  /** Show the queue. */
  | { kind: "queue" }
  /** Cancel the running turn. */
  | { kind: "cancel" }
  /** Cancel the running turn, and ask this question next. */
  | { kind: "interrupt"; question: string }
  | { kind: "question"; question: string }
  /** Any other command. */
  | { kind: "command"; name: string };

const QUEUE_COMMAND = /^\/queue\s+(?:remove\s+(\d{1,2})|(resume))\s*$/;
const INTERRUPT_COMMAND = /^\/interrupt\s+(\S[\s\S]*)$/;
const ANY_COMMAND = /^\/([a-z?]+(?:-[a-z]+)*)(?:[^\S\n]|$)/i;

/** Parses an entry. A question may begin with two slashes, of which one is part of it. */
export function parseTyped(text: string): TypedEntry {
  const [, position, resume] = QUEUE_COMMAND.exec(text.trim()) ?? [];
  if (position !== undefined) return { kind: "remove", position: Number(position) };
  if (resume !== undefined) return { kind: "resume" };
  if (text.trim() === "/cancel") return { kind: "cancel" };
  const [, interrupting] = INTERRUPT_COMMAND.exec(text) ?? [];
  if (interrupting !== undefined) return { kind: "interrupt", question: interrupting };
  if (/^\/queue\s*$/.test(text)) return { kind: "queue" };
  const [, name] = ANY_COMMAND.exec(text) ?? [];
  if (name !== undefined) return { kind: "command", name: name.toLowerCase() };
  return { kind: "question", question: text.startsWith("//") ? text.slice(1) : text };
}

/**
 * Commands that only show something, and those that leave: a question after them means the same as
 * before them.
 */
const SHOWING: ReadonlySet<string> = new Set([
  ...["help", "h", "?", "status", "show", "turns", "files", "diff", "cat", "save", "sessions"],
  ...["queue", "quit", "exit", "q"],
]);

/** Whether an entry waits until no turn runs. `earlier`: the entries that already wait. */
export function waits(text: string, earlier: readonly string[]): boolean {
  const { kind } = parseTyped(text);
  return kind === "command" || (kind === "question" && earlier.some(holdsQuestions));
}

/** Whether questions that are typed after this entry wait for it. */
function holdsQuestions(text: string): boolean {
  const entry = parseTyped(text);
  return entry.kind === "question" || (entry.kind === "command" && !SHOWING.has(entry.name));
}

/** Whether an entry is a question. */
export const isQuestion = (text: string): boolean => parseTyped(text).kind === "question";
