import type { Io } from "../io";
import { type Line, paint, segment, type Tone, wantsColor } from "../terminal/output";
import { spellOut, toLine } from "../terminal/sanitize";
import { type Hunk, hunkTitle, hunksBetween } from "./hunks";
import { type Contents, textOf } from "./patch";
import type { Step } from "./three-way";

type World = Pick<Io, "stderr" | "env">;

/** Most lines of a diff that a review shows for one file. */
const MAX_LINES = 400;

/** Prints a step and the diff of its file. `place`: its number among all steps. */
export function printChange(
  step: Step,
  { here, theirs }: { here: Contents; theirs: Contents },
  { place, world }: { place: string; world: World },
): void {
  const detail =
    step.action === "conflict"
      ? `: ${step.why}; your file stays`
      : step.action === "rename"
        ? `, was ${step.was}`
        : "";
  const title = segment(`${step.action} ${toLine(step.path)}${toLine(detail)}`, "bold");
  printLines([[], [title, segment(`  ${place}`, "dim")], ...diffLines(here, theirs)], world);
}

function diffLines(here: Contents, theirs: Contents): Line[] {
  const [before, after] = [textOf(here), textOf(theirs)];
  const modes = modeLines(here, theirs);
  if (before === null || after === null)
    return [...modes, [segment(`not text: ${sizeOf(here)} → ${sizeOf(theirs)}`, "dim")]];
  const hunks = hunksBetween(before, after);
  if (hunks === null)
    return [...modes, [segment(`many changes: ${sizeOf(here)} → ${sizeOf(theirs)}`, "dim")]];
  const lines = hunks.flatMap(hunkLines);
  const more = lines.length - MAX_LINES;
  const rest: Line[] =
    more > 0 ? [[segment(`… ${more} more lines; --patch prints them`, "dim")]] : [];
  return [...modes, ...lines.slice(0, MAX_LINES), ...rest];
}

const sizeOf = (contents: Contents): string =>
  contents === null ? "no file" : `${contents.bytes.byteLength} bytes`;

const modeLines = (here: Contents, theirs: Contents): Line[] =>
  here && theirs && here.executable !== theirs.executable
    ? [[segment(theirs.executable ? "becomes executable" : "is no longer executable", "dim")]]
    : [];

/** Prints one hunk. */
export const printHunk = (hunk: Hunk, world: World): void => printLines(hunkLines(hunk), world);

const hunkLines = (hunk: Hunk): Line[] => [
  [segment(hunkTitle(hunk), "busy")],
  ...hunk.lines.map((line) => [segment(spellOut(line), toneOf(line))]),
];

const toneOf = (line: string): Tone =>
  line.startsWith("+") ? "good" : line.startsWith("-") ? "bad" : "plain";

function printLines(lines: readonly Line[], { stderr, env }: World): void {
  const style = { width: Number.POSITIVE_INFINITY, color: wantsColor(stderr, env) };
  for (const line of lines) stderr.write(`${paint(line, style)}\n`);
}
