import { ensureSetup } from "./local-setup";
import { wrangler } from "./wrangler";

/**
 * `npm start [-- --port 9000]`: the service on this machine, reachable from this machine only. Further arguments go to
 * `wrangler dev`.
 */
const args = process.argv.slice(2);
const has = (flag: string) => args.some((arg) => arg === flag || arg.startsWith(`${flag}=`));

try {
  await ensureSetup((line) => console.log(line));
  const port = has("--port") ? [] : ["--port", "8787"];
  process.exitCode = await wrangler(["dev", "--ip", "127.0.0.1", "--show-interactive-dev-session=false", ...port, ...args]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
