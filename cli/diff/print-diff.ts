import { plural } from "../../src/describe/figures";
import { patchText } from "../../src/diff/patch-text";
import type { Io } from "../io";
import { paint, printLines, printTable } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { answerLines, diffLines, nameOf } from "./diff-lines";
import type { DiffFacts } from "./read-diff";

type World = Pick<Io, "stdout" | "stderr" | "env">;

/**
 * Prints a diff: at a terminal for people, in a pipe as a patch for `git apply`, which skips the
 * answers because their lines begin with `#`.
 */
export function printDiff(diff: DiffFacts, { stdout, stderr, env }: World): void {
  if (stdout.isTTY === true) printLines(diffLines(diff), { stdout, env });
  else {
    const width = Number.POSITIVE_INFINITY;
    const answers = answerLines(diff).map((line) => `# ${paint(line, { width, color: false })}\n`);
    stdout.write(patchText(diff.data, diff.more) + answers.join(""));
  }
  printSummary(diff, { stderr });
}

/** Prints one line per file: change, added and deleted lines, path. */
export function printStat(diff: DiffFacts, { stdout, stderr }: World): void {
  const rows = diff.data.map((file) => [
    file.change,
    countOf(file.added),
    countOf(file.deleted),
    nameOf(file),
  ]);
  if (rows.length > 0) printTable(["change", "+", "-", "file"], rows, stdout);
  printSummary(diff, { stderr });
}

/** A number of lines; `?` if the file was not compared. */
const countOf = (count: number | null): string => (count === null ? "?" : String(count));

function printSummary(diff: DiffFacts, { stderr }: Pick<World, "stderr">): void {
  const { from, to, counts, more, answer, unavailable_contexts } = diff;
  const points = `${pointName(from)} → ${pointName(to)}`;
  const files = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const isAnswerChanged = answer !== null && answer.from?.sha256 !== answer.to?.sha256;
  const parts = [
    files === 0 ? "no file differs" : `${plural(files, "file")} differ${files === 1 ? "s" : ""}`,
    ...(isAnswerChanged ? ["the answers differ"] : []),
  ];
  stderr.write(`${points}: ${parts.join(", ")}\n`);
  if (more > 0) stderr.write(`${plural(more, "more file")} not listed.\n`);
  if (unavailable_contexts.length > 0)
    stderr.write(
      `Not compared, because a version is erased: ${unavailable_contexts.map(toLine).join(", ")}\n`,
    );
}

const pointName = ({ reference, turn }: DiffFacts["from"]): string =>
  turn === null ? "before the first turn" : toLine(reference);
