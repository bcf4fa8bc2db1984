import type { CommandContext, CustomCommand, defineCommand } from "just-bash/browser";

const MIB = 1024 * 1024;

/**
 * Bytes that a command takes at once. Each of these computes without a pause and would hold the thread for more than about 0.1 s with
 * more. The other commands pause, have lower limits of the shell's own, or take less than 0.02 s per MiB.
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
  md5sum: 6 * MIB,
  nl: 6 * MIB,
  od: 6 * MIB,
  paste: 6 * MIB,
  tac: 6 * MIB,
};

/** Commands as the shell brings them, which refuse more than they can take without holding the thread. */
export const boundedInputs = (define: typeof defineCommand): CustomCommand[] =>
  Object.entries(MOST_BYTES).map(([name, most]) =>
    define(name, async (args, context) => {
      const { origCommand: original, stdin } = context;
      if (!original) throw new Error(`The shell has no ${name} of its own.`);
      const bytes = String(stdin).length + (await bytesOf(args, context));
      if (bytes <= most) return original(args);
      const stderr = `${name}: ${inMib(bytes)} MiB are too much at once; ${name} takes ${inMib(most)} MiB here. Give it a part (head -c, tail -c, grep, sed -n), or cut the file up with split -b 1M first.\n`;
      return { stdout: "", stderr, exitCode: 1 };
    }),
  );

/** Of the files that arguments name. What names none is an option or a filter. */
async function bytesOf(args: readonly string[], { fs, cwd }: Pick<CommandContext, "fs" | "cwd">): Promise<number> {
  let bytes = 0;
  for (const arg of args) {
    try {
      bytes += (await fs.stat(fs.resolvePath(cwd, arg))).size;
    } catch {
      // no file
    }
  }
  return bytes;
}

const inMib = (bytes: number): string => (Math.ceil((100 * bytes) / MIB) / 100).toString();
