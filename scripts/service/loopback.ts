import { createServer } from "node:net";

/** A port of 127.0.0.1 that nobody holds, or `wanted` itself. Throws if somebody holds that: it would answer in another's place. */
export async function freePort(wanted = 0): Promise<number> {
  const probe = createServer();
  const listening = new Promise<void>((done, failed) => probe.once("error", failed).listen(wanted, "127.0.0.1", done));
  await listening.catch((cause: unknown) => {
    throw new Error(`Port ${wanted} is not free. Name another with --port, or none to get a free one.`, { cause });
  });
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  if (!address || typeof address === "string") throw new Error("There is no free port on 127.0.0.1.");
  return address.port;
}

/** Whether the service at this origin says that it is well. Never throws. */
export const isHealthy = (server: string, signal?: AbortSignal): Promise<boolean> =>
  fetch(`${server}/healthz`, signal ? { signal } : {}).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
