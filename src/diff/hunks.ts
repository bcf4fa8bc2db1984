import { changedTokens, type StepBudget } from "./changed-tokens";

/**
 * A change of some lines, with the numbers of a unified diff: lines count from 1, and for an empty
 * range `start` is the line before it. `lines`: ` `, `-` or `+`, then the text of the line.
 */
export type Hunk = {
  from_start: number;
  from_lines: number;
  to_start: number;
  to_lines: number;
  lines: string[];
};

/** The hunks of a file, in order, and the numbers of its added and deleted lines. */
export type LineChanges = { hunks: Hunk[]; added: number; deleted: number };

/** Unchanged lines around a change. Changes that share such lines are one hunk. */
const CONTEXT_LINES = 3;
/** Follows a last line without a line feed, as in every unified diff. */
const NO_LINE_FEED = "\\ No newline at end of file";

/** Compares two texts by lines; `null` if this needs more steps than the budget has. */
export function lineChanges(before: string, after: string, budget: StepBudget): LineChanges | null {
  const { start, end } = sameEnds(before, after);
  const old = linesOf(before.slice(start, before.length - end));
  const fresh = linesOf(after.slice(start, after.length - end));
  const changed = budget.forFile(() => changedTokens(old, fresh, budget));
  if (changed === null) return null;
  const builder = new HunkBuilder(countLines(before, start));
  for (const line of lastLines(before.slice(0, start))) builder.context(line);
  for (let [i, j] = [0, 0]; i < old.length || j < fresh.length; ) {
    if (changed.removed[i] === 1) builder.deleted(old[i++] ?? "");
    else if (changed.added[j] === 1) builder.added(fresh[j++] ?? "");
    else {
      builder.same(old[i++] ?? "");
      j += 1;
    }
  }
  for (const line of firstLines(before.slice(before.length - end))) builder.same(line);
  return builder.result();
}

/**
 * The number of characters at the start and at the end that both texts have in common, in whole
 * lines.
 */
function sameEnds(before: string, after: string): { start: number; end: number } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  start = start === 0 ? 0 : before.lastIndexOf("\n", start - 1) + 1;
  let end = 0;
  while (
    end < most - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end += 1;
  // The line that contains the first common character may begin differently.
  const lineEnd = before.indexOf("\n", before.length - end);
  return { start, end: lineEnd < 0 ? 0 : before.length - lineEnd - 1 };
}

/** The lines of a text with their line feeds. The last line may have none. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start) + 1 || text.length;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1))
    count += 1;
  return count;
}

/** The last lines of a text that ends with a line feed. */
function lastLines(text: string): string[] {
  let start = text.length;
  for (let line = 0; line < CONTEXT_LINES && start > 0; line += 1)
    start = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
  return linesOf(text.slice(start));
}

function firstLines(text: string): string[] {
  let end = 0;
  for (let line = 0; line < CONTEXT_LINES && end < text.length; line += 1) {
    const lineEnd = text.indexOf("\n", end);
    end = lineEnd < 0 ? text.length : lineEnd + 1;
  }
  return linesOf(text.slice(0, end));
}

/** Collects lines into hunks. `#before`: same lines that a hunk may begin with. */
class HunkBuilder {
  readonly #hunks: Hunk[] = [];
  #added = 0;
  #deleted = 0;
  /** Complete lines before the next line, on both sides. */
  #oldLine: number;
  #newLine: number;
  #before: string[] = [];
  #open: { hunk: Hunk; same: number } | null = null;

  constructor(linesBefore: number) {
    this.#oldLine = linesBefore;
    this.#newLine = linesBefore;
  }

  /** A line directly before the compared lines. */
  context(line: string): void {
    this.#before.push(line);
  }

  same(line: string): void {
    this.#oldLine += 1;
    this.#newLine += 1;
    if (!this.#open) {
      this.#before.push(line);
      if (this.#before.length > CONTEXT_LINES) this.#before.shift();
      return;
    }
    this.#open.hunk.lines.push(` ${line}`);
    this.#open.same += 1;
    if (this.#open.same > 2 * CONTEXT_LINES) this.#close();
  }

  deleted(line: string): void {
    this.#change(`-${line}`);
    this.#oldLine += 1;
    this.#deleted += 1;
  }

  added(line: string): void {
    this.#change(`+${line}`);
    this.#newLine += 1;
    this.#added += 1;
  }

  result(): LineChanges {
    this.#close();
    return { hunks: this.#hunks, added: this.#added, deleted: this.#deleted };
  }

  #change(line: string): void {
    this.#open ??= this.#begin();
    this.#open.same = 0;
    this.#open.hunk.lines.push(line);
  }

  #begin(): { hunk: Hunk; same: number } {
    const context = this.#before.map((line) => ` ${line}`);
    this.#before = [];
    return {
      hunk: {
        from_start: this.#oldLine - context.length,
        from_lines: 0,
        to_start: this.#newLine - context.length,
        to_lines: 0,
        lines: context,
      },
      same: 0,
    };
  }

  /** Ends the open hunk. Same lines beyond its context may begin the next one. */
  #close(): void {
    if (!this.#open) return;
    const { hunk, same } = this.#open;
    this.#open = null;
    const beyond = hunk.lines.splice(hunk.lines.length - Math.max(0, same - CONTEXT_LINES));
    this.#before = beyond.slice(-CONTEXT_LINES).map((line) => line.slice(1));
    for (const line of hunk.lines) {
      if (!line.startsWith("+")) hunk.from_lines += 1;
      if (!line.startsWith("-")) hunk.to_lines += 1;
    }
    if (hunk.from_lines > 0) hunk.from_start += 1;
    if (hunk.to_lines > 0) hunk.to_start += 1;
    hunk.lines = hunk.lines.flatMap((line) =>
      line.endsWith("\n") ? [line.slice(0, -1)] : [line, NO_LINE_FEED],
    );
    this.#hunks.push(hunk);
  }
}
