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
    const operands = args.filter((arg) => arg === "-" || !arg.startsWith("-"));
    // Standard input is a string of bytes: compared with bytes read as such, it differs in the same lines.
    const textOf = (operand: string) => (operand === "-" ? String(stdin) : textAt(fs, fs.resolvePath(cwd, operand)));
    const [left, right] = await Promise.all(operands.map(textOf));
    if (left === undefined || right === undefined) return original(args);
    if (diffLines(left, right, { maxEditLength: MOST_CHANGES })) return original(args);
    const stderr = `diff: the files differ in more than ${MOST_CHANGES} lines, too many to compare here; sha256sum, or comm of sorted files, tell more\n`;
    return { stdout: "", stderr, exitCode: 2 };
  });
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
