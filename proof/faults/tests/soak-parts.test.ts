import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NOTHING_SEEN, type Orders } from "../build/orders";
import { CANARY } from "../runs/left-on-disk";
import { lookedAtWhole } from "../soak/afterwards";
import { BooksLog } from "../soak/books-log";
import { Crew } from "../soak/crew";
import type { Sample, SoakFailure } from "../soak/figures";
import { Looks } from "../soak/looks";
import { Striker } from "../soak/striker";
import { startToolServer, type ToolServer } from "../../../simulated/providers/tool-server";

const URL = "http://127.0.0.1:1";
let folder = "";
let tools: ToolServer;
let books: BooksLog;
const kept = new Set<string>();
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "massgen-soak-parts-"));
  [tools, books] = [await startToolServer(), await BooksLog.open()];
});
afterEach(() => {
  for (const one of kept) rmSync(one, { recursive: true, force: true });
  kept.clear();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([tools.close(), books.close()]);
});

describe("sessions of which none can be played", () => {
  /** There is nothing that they could talk to. */
  async function played(mostFailures: number) {
    const over = new AbortController();
    const failures: SoakFailure[] = [];
    const service = {
      ...{ url: URL, tools, killedAt: [], output: `key ${CANARY}1 of ${"old ".repeat(60_000)}` },
      forgetOutput() {
        service.output = "";
      },
    };
    const crew = new Crew({
      ...{
        service,
        books,
        seed: 3,
        sessions: 3,
        command: "again 3",
        lately: () => [],
        calmSince: () => null,
      },
      surroundings: () => Promise.reject(new Error("no port is free")),
      onFailure: (failure) => {
        failures.push(failure);
        kept.add(failure.folder);
        if (failures.length >= mostFailures) over.abort();
      },
    });
    await crew.playUntil(over.signal);
    return { crew, service, failures };
  }

  it("are failures of their own, one after the other, until it is over", async () => {
    const { crew, failures } = await played(7);
    expect(failures.length).toBeGreaterThanOrEqual(7);
    expect(failures.length).toBeLessThan(7 + 3); // each of three lanes ends the one that it is at
    expect(new Set(failures.map(({ name }) => name)).size).toBe(failures.length);
    for (const { problems } of failures) expect(problems).toEqual(["Error: no port is free"]);
    expect(crew.ended).toBe(0);
    expect(crew.targets).toEqual([]);
  });

  it("leave a key that was printed in what is kept of it, and nowhere else", async () => {
    const { crew, service, failures } = await played(1);
    await crew.hear();
    const told = failures.at(-1);
    expect(told).toMatchObject({
      name: "what the service prints",
      problems: ["I17: the service printed an agents' key"],
    });
    expect(readFileSync(path.join(told?.folder ?? "", "service.log"), "utf8")).toContain(
      `${CANARY}1`,
    );
    expect(service.output).not.toContain(CANARY);
    const before = failures.length;
    await crew.hear();
    expect(failures).toHaveLength(before);
  });
});

describe("a rest", () => {
  it("comes when those that are on are over, and no session begins before it is", async () => {
    const over = new AbortController();
    const told: string[] = [];
    let begun = 0;
    const service = { url: URL, tools, killedAt: [], output: "", forgetOutput: () => undefined };
    const crew = new Crew({
      ...{
        service,
        books,
        seed: 3,
        sessions: 3,
        command: "again 3",
        lately: () => [],
        calmSince: () => null,
      },
      surroundings: async () => {
        begun += 1;
        await sleep(30);
        throw new Error("no port is free");
      },
      onFailure: ({ name, folder: one }) => {
        told.push(name);
        kept.add(one);
      },
    });
    const playing = crew.playUntil(over.signal);
    while (begun < 4) await sleep(1);
    const seen: { begun: number; over: number }[] = [];
    await crew.rest(async () => {
      seen.push({ begun, over: told.length });
      await sleep(100);
      seen.push({ begun, over: told.length });
    });
    while (begun < 12) await sleep(1);
    over.abort();
    await playing;
    const [first, last] = seen;
    expect(first?.over).toBe(first?.begun);
    expect(last).toEqual(first);
    expect(told).toHaveLength(begun);
  });
});

it("a failure is told of which nothing can be kept", async () => {
  const failures: SoakFailure[] = [];
  const service = { url: URL, tools, killedAt: [], output: "", forgetOutput: () => undefined };
  const crew = new Crew({
    ...{
      service,
      books,
      seed: 3,
      sessions: 1,
      command: "again 3",
      lately: () => [],
      calmSince: () => null,
    },
    onFailure: (failure) => failures.push(failure),
  });
  await crew.fail({
    name: "of a name that no folder may have: ".repeat(20),
    problems: ["it broke"],
  });
  expect(failures).toMatchObject([
    { problems: ["it broke"], folder: expect.stringMatching(/^no folder: .*ENAMETOOLONG/) },
  ]);
});

describe("orders that are late", () => {
  type Answer = "taken" | "late";
  /** Strikes until so many orders were given at least. `answers`: of the first, and all others are taken. */
  async function struck(answers: readonly Answer[], least = 2) {
    const taken: Orders[] = [];
    const over = new AbortController();
    let asked = 0;
    const order = async (orders: Orders) => {
      asked += 1;
      taken.push(orders);
      if (answers[asked - 1] === "late")
        throw new Error("Waited in vain for an order to be taken.");
      return NOTHING_SEEN;
    };
    const nothing = async () => "";
    const service = { url: URL, order, ring: nothing, reset: nothing };
    const striker = new Striker({
      service,
      seed: 1,
      everyMs: 20,
      targets: () => [],
      isResting: () => false,
    });
    const striking = striker.strikeUntil(over.signal);
    while (taken.length < least) await sleep(5);
    over.abort();
    return { striking, striker, taken };
  }

  it.each([
    { name: "one that lets something go wrong", answers: ["late"] },
    { name: "one that has all be well again", answers: ["taken", "late"] },
    { name: "several of them", answers: ["taken", "late", "late", "late"] },
  ] as const)("are given again until all is well: $name", async ({ answers }) => {
    const { striking, striker, taken } = await struck(answers);
    await striking;
    expect(taken.length).toBeGreaterThan(answers.length);
    expect(taken.at(-1)).toEqual({});
    expect(striker.calmSince).toBeLessThanOrEqual(performance.now());
  });

  it("are not given at all while no session is begun: a fault that meets nothing shows nothing", async () => {
    const taken: Orders[] = [];
    const order = async (orders: Orders) => {
      taken.push(orders);
      return NOTHING_SEEN;
    };
    const [over, looks] = [new AbortController(), { times: 0 }];
    const isResting = () => {
      looks.times += 1;
      return looks.times <= 10;
    };
    const service = { url: URL, order, ring: async () => "", reset: async () => "" };
    const striker = new Striker({ service, seed: 1, everyMs: 20, targets: () => [], isResting });
    const striking = striker.strikeUntil(over.signal);
    while (looks.times < 10) expect([await sleep(5), taken]).toEqual([undefined, []]);
    while (taken.length === 0) await sleep(5);
    over.abort();
    await striking;
  });

  it("are given again at the end, before which nothing struck", async () => {
    const { striking, striker, taken } = await struck(["late"], 0);
    await striking;
    expect(taken).toEqual([{}, {}]);
    expect(striker.calmSince).not.toBeNull();
  });

  it("end the faults where they are never taken", async () => {
    const { striking, striker } = await struck([
      "taken",
      ...Array.from({ length: 99 }, () => "late" as const),
    ]);
    await expect(striking).rejects.toThrow("in vain");
    expect(striker.calmSince).toBeNull();
  }, 20_000);
});

describe("looks", () => {
  const deaf = () => Promise.reject(new Error("The inspector keeps silent."));
  const looks = (more: Partial<ConstructorParameters<typeof Looks>[0]>) =>
    new Looks({
      ...{
        url: URL,
        connect: deaf,
        pid: process.pid,
        storage: folder,
        everyMs: 5,
        ended: () => 4,
        leastDiskBytes: 1,
        onFull: () => {},
      },
      ...more,
    });

  it("go on where the inspector is deaf, without the heap", async () => {
    const over = new AbortController();
    const seen: Sample[] = [];
    const all = looks({
      onSample: (sample) => (seen.push(sample) === 3 ? over.abort() : undefined),
    });
    await all.lookUntil(over.signal, performance.now());
    expect(all.samples).toEqual(seen);
    expect(seen).toHaveLength(3);
    for (const sample of seen) expect(sample).toMatchObject({ live: null, ended: 4 });
    for (const { resident, disk } of seen) expect(Math.min(resident, disk)).toBeGreaterThan(1_000);
  });

  it("tell of a disk that is nearly full", async () => {
    const over = new AbortController();
    const all = looks({ leastDiskBytes: 1e18, onFull: () => over.abort(), everyMs: 60_000 });
    await all.lookUntil(over.signal, performance.now());
    expect(all.samples).toHaveLength(1);
  });

  it.each([
    { name: "whose process is gone", gone: { pid: 2 ** 30 }, told: "ENOENT" },
    {
      name: "whose folder is gone",
      gone: { storage: "/nowhere" },
      told: "du could not tell how much lies in /nowhere",
    },
  ])("end with a service $name", async ({ gone, told }) => {
    await expect(
      looks(gone).lookUntil(new AbortController().signal, performance.now()),
    ).rejects.toThrow(told);
  });

  it("share one connection, also those at rest: with a second one the inspector falls silent on both", async () => {
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
      return { live: async () => (connections.open === 1 ? 7 : null), close };
    };
    const over = new AbortController();
    const all = looks({ url, connect });
    const looking = all.lookUntil(over.signal, performance.now());
    expect(await all.lookAtRest(performance.now())).toMatchObject({ live: 7 });
    over.abort();
    await looking;
    all.close();
    expect(connections).toEqual({ open: 0, made: 1 });
    idle.close();
  }, 20_000);

  it("that are on when it ends cost nothing if they fail", async () => {
    const over = new AbortController();
    const looking = looks({ storage: "/nowhere" }).lookUntil(over.signal, performance.now());
    over.abort();
    await looking;
  });
});

describe("what is to be told of the tenant's books", () => {
  const PLAYED = { runs: [{ session: "s", ends: [{ turn: 1, usd: 0.5 }] }], isSound: true };

  it("is all that was added, in order, and nothing if nothing was", async () => {
    const log = await BooksLog.open();
    expect(await log.all()).toEqual([]);
    for (const isSound of [true, false]) await log.add({ ...PLAYED, isSound });
    expect(await log.all()).toEqual([PLAYED, { ...PLAYED, isSound: false }]);
    await log.close();
  });

  it("is not told where it cannot be read, or only by half", async () => {
    const log = await BooksLog.open();
    await log.add(PLAYED);
    await log.close(); // with its file
    await expect(log.all()).rejects.toThrow("ENOENT");
    await expect(log.add(PLAYED)).rejects.toThrow("ENOENT");
    expect(log.added).toBe(2);
  });
});

describe("the last look at all that was written", () => {
  const at = { seed: 3, command: "again 3" };

  it("is several failures where it cannot be taken, and ends with what they are", async () => {
    const log = await BooksLog.open();
    await log.add({ runs: [], isSound: true });
    await log.close();
    const failures = await lookedAtWhole({
      ...at,
      service: { kill: async () => {}, storage: "/nowhere" },
      books: log,
    });
    expect(failures).toEqual([
      {
        name: "what lies on disk",
        problems: [expect.stringContaining("ENOENT")],
        command: "again 3",
        folder: NOT_KEPT,
      },
      {
        name: "the tenant's books",
        problems: [expect.stringContaining("ENOENT")],
        command: "again 3",
        folder: NOT_KEPT,
      },
    ]);
  });

  it("is not taken of a service that does not end", async () => {
    const service = { kill: () => Promise.reject(new Error("it lives")), storage: "/nowhere" };
    expect(await lookedAtWhole({ ...at, service, books })).toEqual([
      {
        name: "the end of the service",
        problems: ["Error: it lives"],
        command: "again 3",
        folder: NOT_KEPT,
      },
    ]);
  });

  it("finds nothing wrong where no session ended", async () => {
    expect(books.added).toBe(0);
    expect(
      await lookedAtWhole({ ...at, service: { kill: async () => {}, storage: "/nowhere" }, books }),
    ).toEqual([]);
    expect(existsSync("/nowhere")).toBe(false);
  });
});

const NOT_KEPT = expect.stringMatching(/^no folder: .*ENOENT/);
