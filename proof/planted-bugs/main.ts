import { runCommand } from "../../local/command-line";
import { parsePlantedBugsArguments, USAGE } from "./arguments";

/**
 * Plants one bug at a time, and runs the simulation until it finds the bug. The working tree is
 * never changed: the text is replaced while a copy of the code is bundled. Exits with 1 if a bug
 * was not caught by its invariant, or if a session that caught one also fails without it. Exits
 * with 2 for invalid arguments.
 */
async function main(): Promise<number> {
  const args = parsePlantedBugsArguments(process.argv.slice(2));
  if (args) {
    const { judgeAll } = await import("./command");
    return judgeAll(args);
  }
  console.log(USAGE);
  return 0;
}

await runCommand(main);
