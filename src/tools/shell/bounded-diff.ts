import { diffLines } from "diff";
import type { CustomCommand, defineCommand } from "just-bash/browser";

/** Lines that may be added and removed in all; the time grows with the square of it: 0.05 s. */
const MOST_CHANGES = 1_000;
/** Of both files together. */
const MOST_CHARS = 2_000_000;
const MOST_LINES = 60_000;

/** `diff` as the shell brings it, unless it would hold the thread: files that are too large, or differ in too much. */
export function boundedDiff(define: typeof defineCommand): CustomCommand {
  return define("diff", async (args, context) => {
    const original = context.origCommand;
    if (!original) throw new Error("The shell has no diff of its own.");
    const { fs, cwd, stdin } = context;
    const { options, operands } = parted(args);
    // Standard input is a string of bytes: compared with bytes read as such, it differs in the same lines.
    const textOf = (operand: string) =>
      operand === "-" ? String(stdin) : textAt(fs, fs.resolvePath(cwd, operand));
    const [left, right] = await Promise.all(operands.map(textOf));
    // It is given what was looked at as its operands, and nothing else can be one.
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

/** Options, none of which takes a value, and the two operands that count; after `--` everything is one. */
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

/** undefined where there is no such file: that is for the command to say. */
async function textAt(fs: Files, path: string): Promise<string | undefined> {
  try {
    return await fs.readFile(path);
  } catch {
    return undefined;
  }
}
