import { access } from "node:fs/promises";
import type { LogLine } from "../local/runtime-log";
import { ensureSetup } from "../local/local-setup";
import { START_USAGE, type StartOptions, startOptions } from "../local/start-arguments";

/**
 * `npm start [-- --port 9000]`: runs the service on this machine until Ctrl+C. Only this machine
 * can reach the service.
 */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const print = (text: string): void => console.log(text);
const printLogLine = ({ isProblem, text }: LogLine): void =>
  isProblem ? console.error(text) : print(text);

/**
 * Runs the service until a signal ends the process. Throws if the service does not start, or if it
 * ends by itself.
 */
async function serve({ envFiles, persistTo, ip, port }: StartOptions): Promise<never> {
  for (const file of envFiles) await requireFile(file);
  const { startLocalService } = await import("../local/local-service");
  const { readyMessage } = await import("../local/ready-message");
  print("Starting the service …");
  await ensureSetup(print, { persistTo, withDevVars: envFiles.length === 0 });
  const service = await startLocalService({
    ip,
    port,
    envFiles,
    persistTo,
    variables: {},
    onLine: printLogLine,
  });
  print(
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
 * Ends the process after a signal. At `exit`, `local-service.ts` also ends the runtime and removes
 * its sockets.
 */
for (const [signal, code] of Object.entries(EXIT_CODES)) {
  process.on(signal, () => {
    print("Stopped. Turns that were running continue at the next start.");
    process.exit(code);
  });
}

try {
  const options = startOptions(process.argv.slice(2));
  if (options.help) print(START_USAGE);
  else await serve(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
