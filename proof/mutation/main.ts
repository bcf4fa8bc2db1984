import { runCommand } from "../../local/command-line";
import { parseMutationScoreArguments, USAGE } from "./arguments";

/**
 * Mutates the rules, or the simulation's independent checker, in every small way, one at a time,
 * and checks whether their tests, the recorded sessions or the simulation notice. Exit code 1: the
 * score is below `--least`. Exit code 2: invalid arguments.
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
