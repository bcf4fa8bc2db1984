import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleSize } from "../bundle-size";
import { freePort, isHealthy } from "../service/loopback";
import { ServiceProcess } from "../service/service-process";
import { type Spread, spread } from "./arithmetic";
import { type Figure, type Measurement, millis } from "./figure";

const STARTS = 7;

export const BUNDLE: Measurement = {
  name: "bundle",
  about: "Bundle",
  async measure(): Promise<Figure> {
    const data = await bundleSize();
    const kib = (bytes: number) => `${Math.ceil(bytes / 1024)} KiB`;
    return {
      lines: [["bundle, gzip", `${kib(data.gzip)} (raw ${kib(data.raw)})`, "", "≤ 3072 KiB, the platform's limit"]],
      data,
    };
  },
};

/** From starting the runtime to its first answer, with the service in it and with a Worker of one line. */
export const COLD_START: Measurement = {
  name: "cold-start",
  about: "Cold start",
  async measure(): Promise<Figure> {
    const data = { service: await ofService(), bare: await ofBare() };
    return {
      lines: [["cold start, process to first answer", millis(data.service), `one line of code ${millis(data.bare)}`, ""]],
      data,
    };
  },
};

async function ofService(): Promise<Spread> {
  const service = await ServiceProcess.prepare({ OPEN_ACCESS: "loopback" });
  const times: number[] = [];
  try {
    for (let start = 0; start <= STARTS; start += 1) {
      times.push(await service.start());
      await service.kill();
    }
    return spread(times.slice(1)); // the first reads the files
  } finally {
    await service.stop();
  }
}

async function ofBare(): Promise<Spread> {
  const dir = await mkdtemp(path.join(tmpdir(), "massgen-bench-"));
  try {
    const port = await freePort();
    const config = path.join(dir, "config.capnp");
    await writeFile(path.join(dir, "worker.js"), 'export default { fetch: () => new Response("ok") };\n');
    await writeFile(config, bareConfig(port));
    const times: number[] = [];
    for (let start = 0; start <= STARTS; start += 1) times.push(await startBare(config, port));
    return spread(times.slice(1));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const bareConfig = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-01"
);
`;

async function startBare(config: string, port: number): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(workerdPath(), ["serve", config], { stdio: "ignore" });
  while (!(await isHealthy(`http://127.0.0.1:${port}`))) {
    if (child.exitCode !== null) throw new Error("The runtime does not start.");
    await sleep(5);
  }
  const ms = performance.now() - startedAt;
  child.kill("SIGKILL");
  await once(child, "exit");
  return ms;
}

function workerdPath(): string {
  const file: unknown = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd").default;
  if (typeof file !== "string") throw new Error("The workerd package does not say where its program lies.");
  return file;
}
