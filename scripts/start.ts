import { access } from "node:fs/promises";
import type { LogLine } from "../local/runtime-log";
import { ensureSetup } from "../local/local-setup";
import { START_USAGE, type StartOptions, startOptions } from "../local/start-arguments";

/**
 * `npm start [-- --port 9000]`: the service on this machine, reachable from this machine only,
 * until Ctrl+C.
 */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const say = (text: string): void => console.log(text);
const print = ({ isProblem, text }: LogLine): void => (isProblem ? console.error(text) : say(text));

/**
 * Serves until a signal ends the process. Throws if the service does not start, or ends by itself.
 */
async function serve({ envFiles, persistTo, ip, port }: StartOptions): Promise<never> {
  for (const file of envFiles) await requireFile(file);
  const { startLocalService } = await import("../local/local-service");
  const { readyMessage } = await import("../local/ready-message");
  say("Starting the service …");
  await ensureSetup(say, { persistTo, withDevVars: envFiles.length === 0 });
  const service = await startLocalService({
    ip,
    port,
    envFiles,
    persistTo,
    variables: {},
    onLine: print,
  });
  say(
    readyMessage({ url: service.url, port, files: envFiles.length > 0 ? envFiles : [".dev.vars"] }),
  );
  return service.failure;
}

async function requireFile(file: string): Promise<void> {
  await access(file).catch(() => {
    throw new Error(`--env-file ${file}: there is no such file.`);
  });
}

/**
 * What ends the process also ends the runtime and removes its sockets: `local-service.ts` does so
 * at `exit`.
 */
for (const [signal, code] of Object.entries(EXIT_CODES)) {
  process.on(signal, () => {
    say("Stopped. Turns that were running continue at the next start.");
    process.exit(code);
  });
}

try {
  const options = startOptions(process.argv.slice(2));
  if (options.help) say(START_USAGE);
  else await serve(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
