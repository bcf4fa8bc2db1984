import { setMaxListeners } from "node:events";
import { parseArgs } from "node:util";
import { CliError, EXIT, type ExitCode } from "../cli/exit-codes";
import { SCENARIO } from "../simulated/demo/scenario";
import { type DemoService, startService } from "./demo/service";
import { type DemoRun, showRun, whatNext } from "./demo/show";
import { type SimulatedProviders, startSimulatedProviders } from "../simulated/providers/server";

/**
 * `npm run demo [-- --once] [--port N]`: the real service on this machine with simulated models and
 * one question. On a terminal it then runs until Ctrl+C; with `--once`, or without a terminal, it
 * exits.
 */
const USAGE = "usage: npm run demo [-- --once] [--port N]";

async function main(): Promise<ExitCode> {
  const { once, port, help } = readOptions();
  if (help) {
    process.stdout.write(`${USAGE}\n`);
    return EXIT.ok;
  }
  const signal = interruption();
  const providers = await startSimulatedProviders(SCENARIO);
  try {
    process.stderr.write("Starting the service and three simulated models …\n");
    const service = await startService({ allowedOrigin: providers.url, port, signal });
    try {
      return await perform(service, {
        providers,
        stay: !once && process.stdout.isTTY === true,
        signal,
      });
    } finally {
      await service.stop();
    }
  } finally {
    await providers.close();
  }
}

type Options = { providers: SimulatedProviders; stay: boolean; signal: AbortSignal };

async function perform(
  service: DemoService,
  { providers, stay, signal }: Options,
): Promise<ExitCode> {
  const { stdout, stderr, env } = process;
  const watching = new AbortController();
  const stage = { stdout, stderr, env, signal: AbortSignal.any([signal, watching.signal]) };
  let shown: DemoRun;
  try {
    shown = await Promise.race([showRun(service.server, providers, stage), service.failure]);
  } finally {
    watching.abort();
  }
  if (signal.aborted) return EXIT.interrupted;
  if (shown.exitCode !== EXIT.ok)
    stderr.write(`\nThe run did not succeed. The service's last words:\n${service.logTail()}\n`);
  if (!stay || shown.exitCode !== EXIT.ok) return shown.exitCode;
  stderr.write(whatNext(service.server, shown));
  await Promise.race([
    new Promise((leave) => signal.addEventListener("abort", leave)),
    service.failure,
  ]);
  return EXIT.ok;
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

/** Aborted by signals to this process; running parts then stop in order. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  setMaxListeners(0, interrupted.signal);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => interrupted.abort(new CliError(EXIT.interrupted, "Interrupted.")));
  }
  return interrupted.signal;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = error instanceof CliError ? error.exitCode : EXIT.execution;
}
