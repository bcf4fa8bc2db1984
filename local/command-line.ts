import { parseArgs } from "node:util";

/** Invalid arguments. The message is shown to the user; the command exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Parses the value of `--option`, a whole number of at most nine digits. Returns `null` if the
 * option is missing. Throws `UsageError` for other values and for numbers below `least`, because an
 * invalid number would otherwise be ignored silently.
 */
export function wholeNumber(option: string, text: string | undefined, least = 0): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(
    `--${option} is a whole number${least > 0 ? ` from ${least}` : ""}, not "${text}".`,
  );
}

/**
 * Finds the items with exactly this name. If there are none, finds the items whose names contain
 * the text. If there are none either, throws `UsageError` with the existing names.
 */
export function matching<Item>(
  items: readonly Item[],
  text: string,
  nameOf: (item: Item) => string,
): Item[] {
  const exact = items.filter((item) => nameOf(item) === text);
  const found = exact.length > 0 ? exact : items.filter((item) => nameOf(item).includes(text));
  if (found.length === 0) throw nothingMatches(text, items.map(nameOf));
  return found;
}

/** The error for a filter that matches none of these names. */
export const nothingMatches = (text: string, names: readonly string[]): UsageError =>
  new UsageError(
    `No name matches "${text}". Names:${[...new Set(names)].map((name) => `\n  ${name}`).join("")}`,
  );

/**
 * Runs a command. `main` returns the exit code. A `UsageError` is printed; the exit code is then 2.
 */
export async function runCommand(main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof UsageError) && !isParsingError(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

/**
 * Runs a command whose only option is `--help`. Refuses other arguments, which would be ignored
 * silently.
 */
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

/** Whether an error is Node's own error for an unknown option or a missing value. */
const isParsingError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
