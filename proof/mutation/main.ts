import { runCommand } from "../../local/command-line";
import { parseMutationScoreArguments, USAGE } from "./arguments";

/**
 * Makes many small changes (mutants) in the rules or in the simulation's independent checker, one
 * at a time. Checks whether the tests, the recorded sessions or the simulation notice each mutant.
 * Exits with 1 if the score is below `--least` or an entry of `EQUIVALENTS` is outdated, with 2 for
 * invalid arguments.
 */
async function main(): Promise<number> {
  const args = parseMutationScoreArguments(process.argv.slice(2));
  if (args) {
    const { measure } = await import("./command");
    return measure(args);
  }
  console.log(USAGE);
  return 0;
}

await runCommand(main);
