import { runCommand } from "../../local/command-line";
import { parsePlantedBugsArguments, USAGE } from "./arguments";

/**
 * Plants one bug at a time, and simulates sessions until one of them reveals the bug. Never changes
 * the working tree: the bug is planted while the code is bundled. Exits with 1 if a bug does not
 * violate its invariant, or if a session that caught a bug also fails without any bug. Exits with 2
 * for invalid arguments.
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
