import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare, NoOpLog } from "miniflare";
import { SEALING_KEY_BYTES, toSealingKey } from "../../src/tenancy/sealing";
import { type Bundles, bundleBoth } from "./bundles";
import { childNamed, cpuMs } from "./process-cpu";

/**
 * One workerd with two Workers: the service as it would be deployed, and the lower bound. Both are asked over sockets of their
 * own, past the development proxy, and share a process, so that what the machine does to one it does to the other.
 */
export type Runtime = {
  service: string;
  bare: string;
  /** CPU time of the whole process so far, in ms. */
  cpuMs(): number;
  /** Where the sessions' databases lie. */
  sessionsDir: string;
  stop(): Promise<void>;
};

const DIRECT = { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] };

/** `storage`: an existing directory; what the runtime writes lies in a new one below it, until it is stopped. */
export async function startRuntime(storage: string): Promise<Runtime> {
  const dir = await mkdtemp(path.join(storage, "massgen-bench-"));
  const forget = () => rmSync(dir, { recursive: true, force: true });
  process.once("exit", forget); // also when interrupted: storage in memory would stay allocated
  const bundles = await bundleBoth(dir);
  const state = path.join(dir, "state");
  const miniflare = new Miniflare(options(bundles, state));
  await miniflare.ready;
  const workerd = childNamed("workerd");
  return {
    service: (await miniflare.unsafeGetDirectURL("service")).origin,
    bare: (await miniflare.unsafeGetDirectURL("bare")).origin,
    cpuMs: () => cpuMs(workerd),
    sessionsDir: path.join(state, "do/service-SessionObject"),
    async stop() {
      await miniflare.dispose();
      process.off("exit", forget);
      forget();
    },
  };
}

function options({ service, bare, compatibility }: Bundles, state: string) {
  return convertV4MiniflareOptions({
    resourcePersistencePath: state,
    log: new NoOpLog(), // it would say that there is no network; failures are thrown
    workers: [
      {
        name: "service",
        modules: service.modules,
        modulesRoot: service.dir,
        ...compatibility,
        durableObjects: { SESSIONS: { className: "SessionObject", useSQLite: true } },
        d1Databases: { DB: "DB" },
        r2Buckets: { BUCKET: "BUCKET" },
        bindings: {
          OPEN_ACCESS: "loopback",
          ALLOWED_ORIGINS: "http://127.0.0.1:*",
          SEALING_KEYS: toSealingKey(1, randomBytes(SEALING_KEY_BYTES)),
        },
        ...DIRECT,
      },
      {
        name: "bare",
        modules: bare.modules,
        modulesRoot: bare.dir,
        ...compatibility,
        durableObjects: { ROWS: { className: "RowObject", useSQLite: true } },
        ...DIRECT,
      },
    ],
  });
}
