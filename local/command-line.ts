import { parseArgs } from "node:util";

/** What was typed cannot be meant. The message is for whoever typed it; the command ends with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * The whole number that was typed behind `--option`, of nine digits at most; null: the option was not typed. Throws `UsageError` for all
 * else and for less than `least`: what is taken for no number and counted with all the same does nothing, and calls that a success.
 */
export function wholeNumber(option: string, text: string | undefined, least = 0): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(
    `--${option} is a whole number${least > 0 ? ` from ${least}` : ""}, not "${text}".`,
  );
}

/** The one of just this name, else all whose names hold the text. Throws `UsageError`, which names those there are, where none does. */
export function matching<One>(
  all: readonly One[],
  text: string,
  nameOf: (one: One) => string,
): One[] {
  const exact = all.filter((one) => nameOf(one) === text);
  const found = exact.length > 0 ? exact : all.filter((one) => nameOf(one).includes(text));
  if (found.length === 0) throw nothingMatches(text, all.map(nameOf));
  return found;
}

/** For a choice that chose nothing of what has these names. */
export const nothingMatches = (text: string, names: readonly string[]): UsageError =>
  new UsageError(
    `Nothing matches "${text}", there are:${[...new Set(names)].map((name) => `\n  ${name}`).join("")}`,
  );

/** Runs a command, which gives its exit code. What cannot be meant is told in a sentence and ends it with 2. */
export async function runCommand(main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof UsageError) && !isOfParsing(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

/** Runs a command that takes nothing but `--help`, which tells what it does. All else that was typed would be left out silently. */
export function runPlain(
  usage: string,
  main: () => Promise<number>,
  args = process.argv.slice(2),
): Promise<void> {
  return runCommand(async () => {
    const { values } = parseArgs({ args, options: { help: { type: "boolean" } } });
    if (!values.help) return main();
    console.log(usage);
    return 0;
  });
}

/** Node's own word on an option that there is not, or that lacks its value. */
const isOfParsing = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
