import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startLocalService } from "../../local/local-service";
import { ensureSetup } from "../../local/local-setup";
import { newSealingKeys } from "../../local/sealing-keys";
import { freePort } from "../../simulated/service/loopback";

/** The service on a loopback port, with temporary storage. */
export type DemoService = {
  server: string;
  /** The last lines of the service's log, to explain a failure. */
  logTail(): string;
  /** Rejects if the service ends by itself. Never resolves. */
  failure: Promise<never>;
  /** Stops the service and removes its storage. May be called more than once. */
  stop(): Promise<void>;
};

type DemoServiceOptions = {
  /** The only non-public origin that configs may use. */
  allowedOrigin: string;
  /** The port of the service. If it is omitted, a free port is used. */
  port?: number | undefined;
  signal: AbortSignal;
};

const TAIL_LINES = 40;

/** Starts the service and waits until it responds. Throws the signal's reason after an abort. */
export async function startService({
  allowedOrigin,
  port,
  signal,
}: DemoServiceOptions): Promise<DemoService> {
  const chosenPort = await freePort(port);
  const state = await mkdtemp(path.join(tmpdir(), "massgen-demo-"));
  const removeState = () => rm(state, { recursive: true, force: true });
  const lastLines: string[] = [];
  try {
    // This file replaces .dev.vars: the demo needs no provider keys and must not read them.
    const variablesFile = path.join(state, "variables");
    await writeFile(variablesFile, newSealingKeys(), { mode: 0o600 });
    await ensureSetup(() => undefined, { persistTo: state, withDevVars: false });
    signal.throwIfAborted();
    const service = await startLocalService({
      ip: "127.0.0.1",
      port: chosenPort,
      persistTo: state,
      envFiles: [variablesFile],
      variables: { OPEN_ACCESS: "loopback", ALLOWED_ORIGINS: allowedOrigin },
      onLine: ({ text }) => void lastLines.splice(0, lastLines.push(text) - TAIL_LINES),
    });
    const stop = () => service.stop().then(removeState);
    if (signal.aborted) await stop();
    signal.throwIfAborted();
    return {
      server: service.url,
      logTail: () => lastLines.join("\n"),
      failure: service.failure,
      stop,
    };
  } catch (error) {
    await removeState();
    throw signal.aborted ? signal.reason : error; // an interrupted child is not a failure
  }
}
