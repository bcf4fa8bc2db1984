import type { CommandContext, CustomCommand, defineCommand } from "just-bash/browser";
import { diffLines } from "diff";

const MIB = 1024 * 1024;

/**
 * Input limits in bytes of commands that compute without a pause. A larger input would block the
 * thread for more than 0.1 s. Other commands need no limit here. Some pause (`md5sum`, `grep`,
 * `sed`), or take less than 0.02 s per MiB. Others have lower limits in the shell: `awk`, `base64`,
 * `column`, `join`, `strings`, `tr` and `xargs` read at most 256 KiB, and `cut` accepts 10,000
 * ranges.
 */
const MAX_INPUT_BYTES: Readonly<Record<string, number>> = {
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

/** The shell's commands with `MAX_INPUT_BYTES`: they refuse larger inputs. */
export const boundedInputs = (define: typeof defineCommand): CustomCommand[] =>
  Object.entries(MAX_INPUT_BYTES).map(([name, maxBytes]) =>
    define(name, async (args, context) => {
      const { origCommand: original, stdin } = context;
      if (!original) throw new Error(`The shell has no ${name} of its own.`);
      const bytes =
        String(stdin).length + (await bytesOf(args, readsDirectories(name, args), context));
      if (bytes <= maxBytes) return original(args);
      const stderr = `${name}: ${toMib(bytes)} MiB are too much at once; ${name} takes ${toMib(maxBytes)} MiB here. Give it a part (head -c, tail -c, grep, sed -n), or cut the file up with split -b 1M first.\n`;
      return { stdout: "", stderr, exitCode: 1 };
    }),
  );

type FileContext = Pick<CommandContext, "fs" | "cwd">;

/**
 * Whether a command reads directories. Only `gzip -r` does; for `jq`, the argument `.` is a filter.
 */
const readsDirectories = (name: string, args: readonly string[]): boolean =>
  name === "gzip" && args.some((arg) => /^-(\w*r|-r)/.test(arg));

/**
 * Bytes of the files that the arguments name. With `includeDirectories`, files in directories are
 * included. An argument that names no file is an option or a filter.
 */
async function bytesOf(
  args: readonly string[],
  includeDirectories: boolean,
  { fs, cwd }: FileContext,
): Promise<number> {
  let bytes = 0;
  const pending = args.map((arg) => fs.resolvePath(cwd, arg));
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stat = await fs.stat(path).catch(() => null);
    if (stat?.isDirectory === false) bytes += stat.size;
    if (stat?.isDirectory && includeDirectories)
      pending.push(...(await fs.readdir(path)).map((name) => `${path}/${name}`));
  }
  return bytes;
}

const toMib = (bytes: number): string => (Math.ceil((100 * bytes) / MIB) / 100).toString();

/** Added and removed lines together. The time grows with their square: 0.05 s at the limit. */
const MAX_CHANGED_LINES = 1_000;
/** Characters of both files together. */
const MAX_CHARS = 2_000_000;
/** Lines of both files together. */
const MAX_LINES = 60_000;

/**
 * The shell's `diff`. It refuses files that are too large or differ too much, because the
 * comparison would block the thread.
 */
export function boundedDiff(define: typeof defineCommand): CustomCommand {
  return define("diff", async (args, context) => {
    const original = context.origCommand;
    if (!original) throw new Error("The shell has no diff of its own.");
    const { fs, cwd, stdin } = context;
    const { options, operands } = splitArguments(args);
    // Standard input is a text with one character for each byte. If both texts are read in this
    // way, the same lines differ as in decoded texts.
    const textOf = (operand: string) =>
      operand === "-" ? String(stdin) : readOrUndefined(fs, fs.resolvePath(cwd, operand));
    const [left, right] = await Promise.all(operands.map(textOf));
    // `diff` gets exactly the operands that are checked here.
    const runDiff = () => original([...options, "--", ...operands]);
    if (left === undefined || right === undefined || left === right || isBrief(options))
      return runDiff();
    if (isTooLarge(left, right))
      return refuse(
        `the files have more than ${MAX_CHARS} characters or ${MAX_LINES} lines together`,
      );
    if (diffLines(left, right, { maxEditLength: MAX_CHANGED_LINES })) return runDiff();
    return refuse(`the files differ in more than ${MAX_CHANGED_LINES} lines`);
  });
}

const isBrief = (options: readonly string[]): boolean =>
  options.some((option) => option === "-q" || option === "--brief");

function isTooLarge(left: string, right: string): boolean {
  if (left.length + right.length > MAX_CHARS) return true;
  return left.split("\n", MAX_LINES).length + right.split("\n", MAX_LINES).length > MAX_LINES;
}

const refuse = (why: string) => ({
  stdout: "",
  stderr: `diff: ${why}, too many to compare here; diff -q, sha256sum, or comm of sorted files, tell more\n`,
  exitCode: 2,
});

/**
 * Splits the arguments of `diff` into options and the first two operands. No option of this `diff`
 * takes a value. All arguments after `--` are operands.
 */
function splitArguments(args: readonly string[]): { options: string[]; operands: string[] } {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const [before, after] = [args.slice(0, end), args.slice(end + 1)];
  const isOption = (arg: string) => arg.startsWith("-") && arg !== "-";
  return {
    options: before.filter(isOption),
    operands: [...before.filter((arg) => !isOption(arg)), ...after].slice(0, 2),
  };
}

type ShellFiles = Parameters<Parameters<typeof defineCommand>[1]>[1]["fs"];

/**
 * The text of a file; `undefined` if it does not exist. The command itself reports a missing file.
 */
async function readOrUndefined(fs: ShellFiles, path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path);
  } catch {
    return undefined;
  }
}

/** Number of lines that are sorted without a pause. */
const RUN_LINES = 64;
/** Number of comparisons between two checks whether a pause is due. */
const COMPARISONS_PER_CHECK = 64;

type Compare = (a: string, b: string) => number;

/**
 * A stable merge sort with pauses. The runtime's sort cannot pause, and it takes 0.2 s for a
 * megabyte of lines. `breathe` returns a promise to await if a pause is due.
 */
export async function sortedInSteps(
  lines: readonly string[],
  compare: Compare,
  breathe: () => Promise<void> | undefined,
): Promise<string[]> {
  let source: string[] = [];
  for (let start = 0; start < lines.length; start += RUN_LINES) {
    for (const line of lines.slice(start, start + RUN_LINES).sort(compare)) source.push(line);
    await breathe();
  }
  let target: string[] = new Array<string>(lines.length);
  for (let width = RUN_LINES; width < lines.length; width *= 2) {
    for (let start = 0; start < lines.length; start += 2 * width)
      await merge({ source, target, start, width }, compare, breathe);
    [source, target] = [target, source];
  }
  return source;
}

/** Two runs (sorted parts) of `width` lines, the first at `start`, and the array for the result. */
type Merge = { source: readonly string[]; target: string[]; start: number; width: number };

/** Merges two adjacent runs of `source` into `target`. */
async function merge(
  { source, target, start, width }: Merge,
  compare: Compare,
  breathe: () => Promise<void> | undefined,
): Promise<void> {
  const middle = Math.min(start + width, source.length);
  const end = Math.min(middle + width, source.length);
  if (middle === end || compare(source[middle - 1] ?? "", source[middle] ?? "") <= 0) {
    for (let index = start; index < end; index++) target[index] = source[index] ?? "";
    return;
  }
  let [left, right] = [start, middle];
  for (let index = start; index < end; index++) {
    const [leftLine = "", rightLine = ""] = [source[left], source[right]];
    const takesLeft = left < middle && (right >= end || compare(leftLine, rightLine) <= 0);
    target[index] = takesLeft ? leftLine : rightLine;
    if (takesLeft) left++;
    else right++;
    if (index % COMPARISONS_PER_CHECK === 0) {
      const pause = breathe();
      if (pause !== undefined) await pause;
    }
  }
}
