import type { CommandContext, CustomCommand, defineCommand } from "just-bash/browser";
import { diffLines } from "diff";

const MIB = 1024 * 1024;

/**
 * Input limits in bytes of commands that compute without a pause; more would block the thread for
 * over 0.1 s. Other commands pause (`md5sum`, `grep`, `sed`), take less than 0.02 s per MiB, or
 * have lower limits in the shell: `awk`, `base64`, `column`, `join`, `strings`, `tr` and `xargs`
 * read at most 256 KiB, `cut` accepts 10,000 ranges.
 */
const MOST_BYTES: Readonly<Record<string, number>> = {
  expand: MIB,
  fold: MIB,
  gzip: MIB,
  unexpand: MIB,
  jq: 1.5 * MIB,
  comm: 2 * MIB,
  rev: 2 * MIB,
  sort: 2 * MIB,
  uniq: 4 * MIB,
  nl: 6 * MIB,
  od: 6 * MIB,
  paste: 6 * MIB,
  tac: 6 * MIB,
};

/** The shell's commands, which refuse inputs above these limits. */
export const boundedInputs = (define: typeof defineCommand): CustomCommand[] =>
  Object.entries(MOST_BYTES).map(([name, most]) =>
    define(name, async (args, context) => {
      const { origCommand: original, stdin } = context;
      if (!original) throw new Error(`The shell has no ${name} of its own.`);
      const bytes =
        String(stdin).length + (await bytesOf(args, goesIntoDirectories(name, args), context));
      if (bytes <= most) return original(args);
      const stderr = `${name}: ${inMib(bytes)} MiB are too much at once; ${name} takes ${inMib(most)} MiB here. Give it a part (head -c, tail -c, grep, sed -n), or cut the file up with split -b 1M first.\n`;
      return { stdout: "", stderr, exitCode: 1 };
    }),
  );

type Place = Pick<CommandContext, "fs" | "cwd">;

/** Only `gzip` reads directories, and only with `-r`: for `jq`, `.` is a filter. */
const goesIntoDirectories = (name: string, args: readonly string[]): boolean =>
  name === "gzip" && args.some((arg) => /^-(\w*r|-r)/.test(arg));

/**
 * Bytes of the files that arguments name, and of those in directories if `isDeep`. An argument that
 * names no file is an option or filter.
 */
async function bytesOf(
  args: readonly string[],
  isDeep: boolean,
  { fs, cwd }: Place,
): Promise<number> {
  let bytes = 0;
  const open = args.map((arg) => fs.resolvePath(cwd, arg));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const found = await fs.stat(path).catch(() => null);
    if (found?.isDirectory === false) bytes += found.size;
    if (found?.isDirectory && isDeep)
      open.push(...(await fs.readdir(path)).map((name) => `${path}/${name}`));
  }
  return bytes;
}

const inMib = (bytes: number): string => (Math.ceil((100 * bytes) / MIB) / 100).toString();

/** Added and removed lines in total. The time grows with the square: 0.05 s at the limit. */
const MOST_CHANGES = 1_000;
/** Of both files together. */
const MOST_CHARS = 2_000_000;
const MOST_LINES = 60_000;

/**
 * The shell's `diff`, which refuses files that are too large or differ too much, because it would
 * block the thread.
 */
export function boundedDiff(define: typeof defineCommand): CustomCommand {
  return define("diff", async (args, context) => {
    const original = context.origCommand;
    if (!original) throw new Error("The shell has no diff of its own.");
    const { fs, cwd, stdin } = context;
    const { options, operands } = parted(args);
    // Standard input is a byte string. Compared with bytes read the same way, it differs in the
    // same lines.
    const textOf = (operand: string) =>
      operand === "-" ? String(stdin) : textAt(fs, fs.resolvePath(cwd, operand));
    const [left, right] = await Promise.all(operands.map(textOf));
    // Passes exactly the operands that were checked.
    const compared = () => original([...options, "--", ...operands]);
    if (left === undefined || right === undefined || left === right || isBrief(options))
      return compared();
    if (isTooLarge(left, right))
      return refused(
        `the files have more than ${MOST_CHARS} characters or ${MOST_LINES} lines together`,
      );
    if (diffLines(left, right, { maxEditLength: MOST_CHANGES })) return compared();
    return refused(`the files differ in more than ${MOST_CHANGES} lines`);
  });
}

const isBrief = (options: readonly string[]): boolean =>
  options.some((option) => option === "-q" || option === "--brief");

function isTooLarge(left: string, right: string): boolean {
  if (left.length + right.length > MOST_CHARS) return true;
  return left.split("\n", MOST_LINES).length + right.split("\n", MOST_LINES).length > MOST_LINES;
}

const refused = (why: string) => ({
  stdout: "",
  stderr: `diff: ${why}, too many to compare here; diff -q, sha256sum, or comm of sorted files, tell more\n`,
  exitCode: 2,
});

/**
 * Options, none of which takes a value, and the first two operands. After `--` everything is an
 * operand.
 */
function parted(args: readonly string[]): { options: string[]; operands: string[] } {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const [before, after] = [args.slice(0, end), args.slice(end + 1)];
  const isOption = (arg: string) => arg.startsWith("-") && arg !== "-";
  return {
    options: before.filter(isOption),
    operands: [...before.filter((arg) => !isOption(arg)), ...after].slice(0, 2),
  };
}

type Files = Parameters<Parameters<typeof defineCommand>[1]>[1]["fs"];

/** `undefined` if the file does not exist; the command reports it. */
async function textAt(fs: Files, path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path);
  } catch {
    return undefined;
  }
}

/** Lines sorted without a pause. */
const RUN = 64;
/** Comparisons between two checks for a pause. */
const LOOK_EVERY = 64;

type Compare = (a: string, b: string) => number;

/**
 * Stable sort with pauses. The runtime's sort cannot pause: it takes 0.2 s for a megabyte of lines.
 * `breathe` returns a promise when a pause is due.
 */
export async function sortedInSteps(
  lines: readonly string[],
  compare: Compare,
  breathe: () => Promise<void> | undefined,
): Promise<string[]> {
  let from: string[] = [];
  for (let start = 0; start < lines.length; start += RUN) {
    for (const line of lines.slice(start, start + RUN).sort(compare)) from.push(line);
    await breathe();
  }
  let into: string[] = new Array<string>(lines.length);
  for (let width = RUN; width < lines.length; width *= 2) {
    for (let start = 0; start < lines.length; start += 2 * width)
      await merge({ from, into, start, width }, compare, breathe);
    [from, into] = [into, from];
  }
  return from;
}

type Merge = { from: readonly string[]; into: string[]; start: number; width: number };

/** Merges two adjacent runs. */
async function merge(
  { from, into, start, width }: Merge,
  compare: Compare,
  breathe: () => Promise<void> | undefined,
): Promise<void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(middle + width, from.length);
  if (middle === end || compare(from[middle - 1] ?? "", from[middle] ?? "") <= 0) {
    for (let at = start; at < end; at++) into[at] = from[at] ?? "";
    return;
  }
  let [left, right] = [start, middle];
  for (let at = start; at < end; at++) {
    const [one = "", other = ""] = [from[left], from[right]];
    const isLeft = left < middle && (right >= end || compare(one, other) <= 0);
    into[at] = isLeft ? one : other;
    if (isLeft) left++;
    else right++;
    if (at % LOOK_EVERY === 0) {
      const pause = breathe();
      if (pause !== undefined) await pause;
    }
  }
}
