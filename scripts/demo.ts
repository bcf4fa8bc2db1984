import { setMaxListeners } from "node:events";
import { parseArgs } from "node:util";
import { CliError, EXIT, type ExitCode } from "../cli/exit-codes";

/**
 * `npm run demo [-- --once] [--port N]`: runs the real service on this machine with simulated
 * models, and asks one question. On a terminal, the service then runs until Ctrl+C. With `--once`,
 * or without a terminal, the demo ends after the answer.
 */
const USAGE = "usage: npm run demo [-- --once] [--port N]";

async function main(): Promise<ExitCode> {
  const { once, port, help } = readOptions();
  if (help) {
    process.stdout.write(`${USAGE}\n`);
    return EXIT.ok;
  }
  const { playDemo } = await import("./demo/play");
  const keepsRunning = !once && process.stdout.isTTY === true;
  return playDemo({ keepsRunning, port, signal: interruption() });
}

function readOptions(): { once: boolean; port: number | undefined; help: boolean } {
  try {
    const flag = { type: "boolean", default: false } as const;
    const { values } = parseArgs({ options: { once: flag, port: { type: "string" }, help: flag } });
    const port = values.port === undefined ? undefined : Number(values.port);
    if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536))
      throw new Error("--port takes 1 to 65535.");
    return { once: values.once, port, help: values.help };
  } catch (error) {
    throw new CliError(EXIT.config, `${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

/** A signal that aborts at Ctrl+C or a termination signal. The running parts then stop in order. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => controller.abort(new CliError(EXIT.interrupted, "Interrupted.")));
  }
  return controller.signal;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = error instanceof CliError ? error.exitCode : EXIT.execution;
}
