import type { CommandContext, CustomCommand, defineCommand } from "just-bash/browser";

const MIB = 1024 * 1024;

/**
 * Bytes that a command takes at once. Each of these computes without a pause and would hold the thread for more than about 0.1 s with
 * more. The other commands pause (`md5sum`, `grep`, `sed`), or take less than 0.02 s per MiB, or have lower limits of the shell's own:
 * `awk`, `base64`, `column`, `join`, `strings`, `tr` and `xargs` read 256 KiB at most, `cut` takes 10,000 ranges.
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

/** Commands as the shell brings them, which refuse more than they can take without holding the thread. */
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

/** Only `gzip` goes into directories, and only if asked to: `.` is a filter of `jq`. */
const goesIntoDirectories = (name: string, args: readonly string[]): boolean =>
  name === "gzip" && args.some((arg) => /^-(\w*r|-r)/.test(arg));

/** Of the files that arguments name, and of those in directories if `isDeep`. What names none is an option or a filter. */
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
