import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CANARY } from "../runs/left-on-disk";
import { checkStorage } from "../soak/storage-check";
import { LedgerLog } from "../soak/ledger-log";
import { SessionPool } from "../soak/session-pool";
import type { Sample, SoakFailure } from "../soak/figures";
import { ResourceSampler } from "../soak/resource-sampler";
import { startToolServer, type ToolServer } from "../../../simulated/providers/tool-server";

const URL = "http://127.0.0.1:1";
const HEAP = { used: 5, buffers: 2, embedder: 1, total: 8 };
let folder = "";
let tools: ToolServer;
let ledger: LedgerLog;
const keptFolders = new Set<string>();
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "massgen-soak-parts-"));
  [tools, ledger] = [await startToolServer(), await LedgerLog.open()];
});
afterEach(() => {
  for (const one of keptFolders) rmSync(one, { recursive: true, force: true });
  keptFolders.clear();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([tools.close(), ledger.close()]);
});

describe("sessions that cannot be played", () => {
  /** Plays sessions whose servers cannot be started, until there are so many failures. */
  async function playUntilFailures(mostFailures: number) {
    const over = new AbortController();
    const failures: SoakFailure[] = [];
    const service = {
      ...{ url: URL, tools, killedAt: [], output: `key ${CANARY}1 of ${"old ".repeat(60_000)}` },
      clearOutput() {
        service.output = "";
      },
    };
    const pool = new SessionPool({
      ...{
        service,
        ledger,
        seed: 3,
        sessions: 3,
        command: "again 3",
        recentFaults: () => [],
        quietSince: () => null,
      },
      startServers: () => Promise.reject(new Error("no port is free")),
      onFailure: (failure) => {
        failures.push(failure);
        keptFolders.add(failure.folder);
        if (failures.length >= mostFailures) over.abort();
      },
    });
    await pool.playUntil(over.signal);
    return { pool, service, failures };
  }

  it("are separate failures until the end", async () => {
    const { pool, failures } = await playUntilFailures(7);
    expect(failures.length).toBeGreaterThanOrEqual(7);
    expect(failures.length).toBeLessThan(7 + 3); // Each of three lanes ends its current session.
    expect(new Set(failures.map(({ name }) => name)).size).toBe(failures.length);
    for (const { problems } of failures) expect(problems).toEqual(["Error: no port is free"]);
    expect(pool.ended).toBe(0);
    expect(pool.targets).toEqual([]);
  });

  it("leave a printed key in the evidence, and report it only once", async () => {
    const { pool, service, failures } = await playUntilFailures(1);
    await pool.checkOutput();
    const reported = failures.at(-1);
    expect(reported).toMatchObject({
      name: "service output",
      problems: ["I17: the service printed an agents' key"],
    });
    expect(readFileSync(path.join(reported?.folder ?? "", "service.log"), "utf8")).toContain(
      `${CANARY}1`,
    );
    expect(service.output).not.toContain(CANARY);
    const before = failures.length;
    await pool.checkOutput();
    expect(failures).toHaveLength(before);
  });
});

describe("a pause of the session pool", () => {
  it("starts after the active sessions, and no session begins during it", async () => {
    const over = new AbortController();
    const failed: string[] = [];
    let startedCount = 0;
    const service = { url: URL, tools, killedAt: [], output: "", clearOutput: () => undefined };
    const pool = new SessionPool({
      ...{
        service,
        ledger,
        seed: 3,
        sessions: 3,
        command: "again 3",
        recentFaults: () => [],
        quietSince: () => null,
      },
      startServers: async () => {
        startedCount += 1;
        await sleep(30);
        throw new Error("no port is free");
      },
      onFailure: ({ name, folder: one }) => {
        failed.push(name);
        keptFolders.add(one);
      },
    });
    const playing = pool.playUntil(over.signal);
    while (startedCount < 4) await sleep(1);
    const seen: { startedCount: number; over: number }[] = [];
    await pool.rest(async () => {
      seen.push({ startedCount, over: failed.length });
      await sleep(100);
      seen.push({ startedCount, over: failed.length });
    });
    while (startedCount < 12) await sleep(1);
    over.abort();
    await playing;
    const [first, last] = seen;
    expect(first?.over).toBe(first?.startedCount);
    expect(last).toEqual(first);
    expect(failed).toHaveLength(startedCount);
  });
});

it("a failure is reported also if its evidence cannot be kept", async () => {
  const failures: SoakFailure[] = [];
  const service = { url: URL, tools, killedAt: [], output: "", clearOutput: () => undefined };
  const pool = new SessionPool({
    ...{
      service,
      ledger,
      seed: 3,
      sessions: 1,
      command: "again 3",
      recentFaults: () => [],
      quietSince: () => null,
    },
    onFailure: (failure) => failures.push(failure),
  });
  await pool.fail({
    name: "a name that is too long for a folder:  ".repeat(20),
    problems: ["it broke"],
  });
  expect(failures).toMatchObject([
    { problems: ["it broke"], folder: expect.stringMatching(/^no folder: .*ENAMETOOLONG/) },
  ]);
});

describe("samples", () => {
  const silent = () => Promise.reject(new Error("The inspector does not answer."));
  const sampler = (more: Partial<ConstructorParameters<typeof ResourceSampler>[0]>) =>
    new ResourceSampler({
      ...{
        url: URL,
        connect: silent,
        pid: process.pid,
        storage: folder,
        everyMs: 5,
        ended: () => 4,
        minFreeBytes: 1,
        onFull: () => {},
      },
      ...more,
    });

  it("continue without the heap if the inspector does not answer", async () => {
    const over = new AbortController();
    const seen: Sample[] = [];
    const all = sampler({
      onSample: (sample) => (seen.push(sample) === 3 ? over.abort() : undefined),
    });
    await all.sampleUntil(over.signal, performance.now());
    expect(all.samples).toEqual(seen);
    expect(seen).toHaveLength(3);
    for (const sample of seen) expect(sample).toMatchObject({ live: null, ended: 4 });
    for (const { resident, disk } of seen) expect(Math.min(resident, disk)).toBeGreaterThan(1_000);
  });

  it("report a nearly full disk", async () => {
    const over = new AbortController();
    const all = sampler({ minFreeBytes: 1e18, onFull: () => over.abort(), everyMs: 60_000 });
    await all.sampleUntil(over.signal, performance.now());
    expect(all.samples).toHaveLength(1);
  });

  it.each([
    { name: "whose process is gone", changedOptions: { pid: 2 ** 30 }, message: "ENOENT" },
    {
      name: "whose folder is gone",
      changedOptions: { storage: "/nowhere" },
      message: "du reported no size of /nowhere",
    },
  ])("end with a service $name", async ({ changedOptions, message }) => {
    await expect(
      sampler(changedOptions).sampleUntil(new AbortController().signal, performance.now()),
    ).rejects.toThrow(message);
  });

  it("use one connection, also at rest, because with two the inspector does not answer", async () => {
    const idle = createServer((_, res) => res.end("{}")).listen(0, "127.0.0.1");
    await once(idle, "listening");
    const address = idle.address();
    const url = `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}`;
    const connections = { open: 0, made: 0 };
    const connect = async () => {
      connections.open += 1;
      connections.made += 1;
      await sleep(20);
      const close = () => {
        connections.open -= 1;
      };
      return { heap: async () => (connections.open === 1 ? HEAP : null), close };
    };
    const over = new AbortController();
    const all = sampler({ url, connect });
    const sampling = all.sampleUntil(over.signal, performance.now());
    expect(await all.sampleAtRest(performance.now())).toMatchObject({ live: 7 });
    over.abort();
    await sampling;
    all.close();
    expect(connections).toEqual({ open: 0, made: 1 });
    idle.close();
  }, 20_000);

  it("that fail after the end of the soak are ignored", async () => {
    const over = new AbortController();
    const sampling = sampler({ storage: "/nowhere" }).sampleUntil(over.signal, performance.now());
    over.abort();
    await sampling;
  });
});

describe("the log of finished runs", () => {
  const PLAYED = { runs: [{ session: "s", ends: [{ turn: 1, usd: 0.5 }] }], isSound: true };

  it("returns all added entries in order", async () => {
    const log = await LedgerLog.open();
    expect(await log.all()).toEqual([]);
    for (const isSound of [true, false]) await log.add({ ...PLAYED, isSound });
    expect(await log.all()).toEqual([PLAYED, { ...PLAYED, isSound: false }]);
    await log.close();
  });

  it("throws if it cannot be read completely", async () => {
    const log = await LedgerLog.open();
    await log.add(PLAYED);
    await log.close(); // Also removes its file.
    await expect(log.all()).rejects.toThrow("ENOENT");
    await expect(log.add(PLAYED)).rejects.toThrow("ENOENT");
    expect(log.added).toBe(2);
  });
});

describe("the check of everything on disk", () => {
  const at = { seed: 3, command: "again 3" };

  it("returns its own errors as failures", async () => {
    const log = await LedgerLog.open();
    await log.add({ runs: [], isSound: true });
    await log.close();
    const failures = await checkStorage({
      ...at,
      service: { kill: async () => {}, storage: "/nowhere" },
      ledger: log,
    });
    expect(failures).toEqual([
      {
        name: "files on disk",
        problems: [expect.stringContaining("ENOENT")],
        command: "again 3",
        folder: NOT_KEPT,
      },
      {
        name: "the tenant's ledger",
        problems: [expect.stringContaining("ENOENT")],
        command: "again 3",
        folder: NOT_KEPT,
      },
    ]);
  });

  it("is skipped if the service does not end", async () => {
    const service = { kill: () => Promise.reject(new Error("it lives")), storage: "/nowhere" };
    expect(await checkStorage({ ...at, service, ledger })).toEqual([
      {
        name: "the end of the service",
        problems: ["Error: it lives"],
        command: "again 3",
        folder: NOT_KEPT,
      },
    ]);
  });

  it("finds nothing if no session ended", async () => {
    expect(ledger.added).toBe(0);
    expect(
      await checkStorage({ ...at, service: { kill: async () => {}, storage: "/nowhere" }, ledger }),
    ).toEqual([]);
    expect(existsSync("/nowhere")).toBe(false);
  });
});

const NOT_KEPT = expect.stringMatching(/^no folder: .*ENOENT/);
