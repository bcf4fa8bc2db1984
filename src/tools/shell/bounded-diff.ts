import { diffLines } from "diff";
import type { CustomCommand, defineCommand } from "just-bash/browser";

/** Lines that may be added and removed in all; the time grows with the square of it. */
const MOST_CHANGES = 2_000;

/** `diff` as the shell brings it, unless the files differ in so much that it would take minutes. */
export function boundedDiff(define: typeof defineCommand): CustomCommand {
  return define("diff", async (args, context) => {
    const original = context.origCommand;
    if (!original) throw new Error("The shell has no diff of its own.");
    const { fs, cwd, stdin } = context;
    const { options, operands } = parted(args);
    // Standard input is a string of bytes: compared with bytes read as such, it differs in the same lines.
    const textOf = (operand: string) => (operand === "-" ? String(stdin) : textAt(fs, fs.resolvePath(cwd, operand)));
    const [left, right] = await Promise.all(operands.map(textOf));
    // It is given what was looked at as its operands, and nothing else can be one.
    const compared = () => original([...options, "--", ...operands]);
    if (left === undefined || right === undefined) return compared();
    if (diffLines(left, right, { maxEditLength: MOST_CHANGES })) return compared();
    const stderr = `diff: the files differ in more than ${MOST_CHANGES} lines, too many to compare here; sha256sum, or comm of sorted files, tell more\n`;
    return { stdout: "", stderr, exitCode: 2 };
  });
}

/** Options, none of which takes a value, and the two operands that count; after `--` everything is one. */
function parted(args: readonly string[]): { options: string[]; operands: string[] } {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const [before, after] = [args.slice(0, end), args.slice(end + 1)];
  const isOption = (arg: string) => arg.startsWith("-") && arg !== "-";
  return { options: before.filter(isOption), operands: [...before.filter((arg) => !isOption(arg)), ...after].slice(0, 2) };
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
