import { type } from "node:os";
import { runCommand, UsageError } from "../../local/command-line";
import { parseBenchArguments, USAGE, writableFile } from "./arguments";

/**
 * Exits with 1 if an exact figure is wrong or a figure could not be measured, with 2 for invalid
 * arguments. A missed aim is only reported.
 */
async function main(): Promise<number> {
  const args = parseBenchArguments(process.argv.slice(2));
  if (!args) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (type() !== "Linux")
    throw new UsageError("The benchmark reads CPU times from /proc and runs on Linux only.");
  const file = await writableFile(args.json);
  const { measure } = await import("./command");
  return measure(args, file);
}

await runCommand(main);
