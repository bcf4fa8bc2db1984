import { EXIT, type ExitCode } from "../../cli/exit-codes";
import { SCENARIO } from "../../simulated/demo/scenario";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { type DemoService, startService } from "./service";
import { type DemoRun, showRun, whatNext } from "./show";

/** `keepsRunning`: the service runs after the answer until `signal` aborts. */
type DemoOptions = { keepsRunning: boolean; port: number | undefined; signal: AbortSignal };

/** Starts the simulated models and the service, and shows one run. Returns the exit code. */
export async function playDemo({ keepsRunning, port, signal }: DemoOptions): Promise<ExitCode> {
  const providers = await startSimulatedProviders(SCENARIO);
  try {
    process.stderr.write("Starting the service and three simulated models …\n");
    const service = await startService({ allowedOrigin: providers.url, port, signal });
    try {
      return await runDemo(service, { providers, keepsRunning, signal });
    } finally {
      await service.stop();
    }
  } finally {
    await providers.close();
  }
}

type Options = { providers: SimulatedProviders; keepsRunning: boolean; signal: AbortSignal };

async function runDemo(
  service: DemoService,
  { providers, keepsRunning, signal }: Options,
): Promise<ExitCode> {
  const { stdout, stderr, env } = process;
  const displayController = new AbortController();
  const stage = {
    stdout,
    stderr,
    env,
    signal: AbortSignal.any([signal, displayController.signal]),
  };
  let run: DemoRun;
  try {
    run = await Promise.race([showRun(service.server, providers, stage), service.failure]);
  } finally {
    displayController.abort();
  }
  if (signal.aborted) return EXIT.interrupted;
  if (run.exitCode !== EXIT.ok)
    stderr.write(`\nThe run did not succeed. End of the service's log:\n${service.logTail()}\n`);
  if (!keepsRunning || run.exitCode !== EXIT.ok) return run.exitCode;
  stderr.write(whatNext(service.server, run));
  await Promise.race([
    new Promise((resolve) => signal.addEventListener("abort", resolve)),
    service.failure,
  ]);
  return EXIT.ok;
}
