import { ensureSetup } from "./local-setup";
import { reportKeys } from "./provider-keys";
import { startArguments, variableFiles } from "./start-arguments";
import { wrangler } from "./wrangler";

/**
 * `npm start [-- --port 9000]`: the service on this machine, reachable from this machine only. Says first which providers it has
 * keys for. Further arguments go to `wrangler dev`.
 */
try {
  const args = startArguments(process.argv.slice(2));
  await ensureSetup((line) => console.log(line));
  for (const line of await reportKeys(variableFiles(args))) console.log(line);
  process.exitCode = await wrangler(args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
