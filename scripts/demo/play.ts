import { EXIT, type ExitCode } from "../../cli/exit-codes";
import { SCENARIO } from "../../simulated/demo/scenario";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { type DemoService, startService } from "./service";
import { type DemoRun, showRun, whatNext } from "./show";

/** `stay`: whether to serve after the run, until `signal` aborts. */
type DemoOptions = { stay: boolean; port: number | undefined; signal: AbortSignal };

/** Starts the simulated models and the service, and shows one run. Returns the exit code. */
export async function playDemo({ stay, port, signal }: DemoOptions): Promise<ExitCode> {
  const providers = await startSimulatedProviders(SCENARIO);
  try {
    process.stderr.write("Starting the service and three simulated models …\n");
    const service = await startService({ allowedOrigin: providers.url, port, signal });
    try {
      return await perform(service, { providers, stay, signal });
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
