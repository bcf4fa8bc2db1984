import { fileURLToPath } from "node:url";
import { runCommand } from "../../local/command-line";
import { parseSimulateArguments, USAGE } from "./command/arguments";

/**
 * Simulates whole sessions on all cores of the machine. The same seed always gives the same log.
 *
 * Exits with 1 if an invariant is violated, if a seed hangs or ends its process, or if fewer seeds
 * are played than requested. Also exits with 1 if a transition meets a fault although that is
 * declared impossible, or if a kind of fault never strikes. Exits with 2 for invalid arguments or
 * an unusable progress file.
 */
async function main(): Promise<number> {
  const args = parseSimulateArguments(process.argv.slice(2));
  if (args.type === "help") {
    console.log(USAGE);
    return 0;
  }
  if (args.type === "worker") {
    const { playRange } = await import("./command/worker");
    await playRange(args.range);
    process.disconnect();
    return 0;
  }
  const { showAll, showOne } = await import("./command/command");
  return args.type === "seed" ? showOne(args.seed) : showAll(args, fileURLToPath(import.meta.url));
}

await runCommand(main);
