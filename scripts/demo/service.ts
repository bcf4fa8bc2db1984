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
  /** The end of its output, to explain a failure. */
  logTail(): string;
  /** Rejects if it ends by itself. Never resolves. */
  failure: Promise<never>;
  /** Ends it with all its children. May be called twice. */
  stop(): Promise<void>;
};

type DemoServiceOptions = {
  /** The only non-public origin that configs may use. */
  allowedOrigin: string;
  /** If omitted, a free one. */
  port?: number | undefined;
  signal: AbortSignal;
};

const TAIL_LINES = 40;

/** Starts the service and waits until it answers. Throws the signal's reason after an abort. */
export async function startService({
  allowedOrigin,
  port,
  signal,
}: DemoServiceOptions): Promise<DemoService> {
  const chosen = await freePort(port);
  const state = await mkdtemp(path.join(tmpdir(), "massgen-demo-"));
  const removeState = () => rm(state, { recursive: true, force: true });
  const tail: string[] = [];
  try {
    // Replaces .dev.vars: the demo needs no provider keys and must not see any.
    const variablesFile = path.join(state, "variables");
    await writeFile(variablesFile, newSealingKeys(), { mode: 0o600 });
    await ensureSetup(() => undefined, { persistTo: state, withDevVars: false });
    signal.throwIfAborted();
    const service = await startLocalService({
      ip: "127.0.0.1",
      port: chosen,
      persistTo: state,
      envFiles: [variablesFile],
      variables: { OPEN_ACCESS: "loopback", ALLOWED_ORIGINS: allowedOrigin },
      onLine: ({ text }) => void tail.splice(0, tail.push(text) - TAIL_LINES),
    });
    const stop = () => service.stop().then(removeState);
    if (signal.aborted) await stop();
    signal.throwIfAborted();
    return { server: service.url, logTail: () => tail.join("\n"), failure: service.failure, stop };
  } catch (error) {
    await removeState();
    throw signal.aborted ? signal.reason : error; // an interrupted child is not a failure
  }
}
