import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * These ports are below the range that the operating system uses for outgoing connections. A port
 * of that range could become used between the check and the start of the service.
 */
const OWN_PORTS = { from: 20_000, to: 29_900 } as const;
const TRIES = 20;

/**
 * Returns `wanted`, or else a free port of 127.0.0.1. Throws if `wanted` is in use, because
 * requests would then reach another process.
 */
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

/** Whether the health check of this origin succeeds. Never throws. */
export const isHealthy = (server: string, signal?: AbortSignal): Promise<boolean> =>
  fetch(`${server}/healthz`, signal ? { signal } : {}).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
