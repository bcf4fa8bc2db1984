import { runCommand } from "../../local/command-line";
import { parseFaultsArguments, USAGE } from "./arguments";

async function main(): Promise<number> {
  const args = parseFaultsArguments(process.argv.slice(2));
  if (args.type === "help") {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const { play } = await import("./command");
  return play(args);
}

await runCommand(main);
