import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Where systems take the ports of outgoing connections from lies above this: of a port from there, somebody's connection may have got
 * hold before the service does for which it was looked up.
 */
const OWN_PORTS = { from: 20_000, to: 29_900 } as const;
const TRIES = 20;

/** A port of 127.0.0.1 that nobody holds, or `wanted` itself. Throws if somebody holds that: it would answer in another's place. */
export async function freePort(wanted?: number): Promise<number> {
  if (wanted) {
    if (await isFree(wanted)) return wanted;
    throw new Error(
      `Port ${wanted} is not free. Name another with --port, or none to get a free one.`,
    );
  }
  for (let nth = 0; nth < TRIES; nth += 1) {
    const port = randomInt(OWN_PORTS.from, OWN_PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error(
    `There is no free port on 127.0.0.1: ${TRIES} from ${OWN_PORTS.from} to ${OWN_PORTS.to} were tried.`,
  );
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const listening = new Promise<boolean>((done) => {
    probe.once("error", () => done(false)).listen(port, "127.0.0.1", () => done(true));
  });
  if (!(await listening)) return false;
  await new Promise((closed) => probe.close(closed));
  return true;
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
