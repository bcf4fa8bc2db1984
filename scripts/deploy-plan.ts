/** Options that both commands accept. The value is the next argument, or follows `=`. */
const SHARED_OPTION = /^(--env|-e|--config|-c|--cwd|--env-file|--profile)(=|$)/;
const DRY_RUN = /^--dry-?run(=(?!false$)|$)/i;
const HELP = /^(--help|-h)$/;
const NAME = /^--name(=|$)/;

/**
 * The wrangler commands of `npm run deploy`, in order. `args` are the arguments after `--`. The
 * upload comes before the migrations, because the first upload creates the database. With
 * `--dry-run` the list is empty. Throws for `--name`, because the database would not be found.
 */
export function deployPlan(args: readonly string[]): string[][] {
  if (args.some((arg) => DRY_RUN.test(arg))) return [];
  if (args.some((arg) => NAME.test(arg))) {
    throw new Error(
      "Change `name` in wrangler.toml instead of giving --name: the database and its keys are found by that name.",
    );
  }
  const upload = ["deploy", ...args];
  if (args.some((arg) => HELP.test(arg))) return [upload];
  return [upload, ["d1", "migrations", "apply", "DB", "--remote", ...sharedOptionsIn(args)]];
}

const sharedOptionsIn = (args: readonly string[]): string[] =>
  args.filter((arg, index) => SHARED_OPTION.test(arg) || isValueOf(args[index - 1]));

const isValueOf = (previous = ""): boolean =>
  SHARED_OPTION.test(previous) && !previous.includes("=");
