import { tmpdir } from "node:os";
import { z } from "zod";
import { type Spread, spread } from "../arithmetic";
import { aim, type Figure, type Measurement, millis } from "../figure";
import { startRuntime } from "../runtime";
import { type Cost, TREE } from "./snapshot-costs";

/** What it costs to freeze a tree with an answer and to bring it to R2, beside copying it. */
type SnapshotsFigure = {
  files: number;
  first: Taken;
  changed: Taken;
  copy: Taken;
  firstPuts: Taken;
  changedPuts: Taken;
  tidy: Tidied;
};
/** Bytes of the session's database, and rows written, as a turn ends in which every file was written anew. */
type Tidied = { before: number; after: number; rows: number };
/** `cost`: the most of any. */
type Taken = { ms: Spread; cost: Cost };

const CHANGED = 3;
/** Sessions, each with a first snapshot, a second and a copy. */
const RUNS = 5;
/** Turns after the first in each session: a result in eight is written whole, so these never are. */
const LATER_TURNS = 2;
/** A pack of what is new, and the manifest. */
const MOST_WRITES = 2;

export const SNAPSHOTS: Measurement = {
  name: "snapshots",
  about: `Snapshots of ${TREE.files} files, in ${RUNS} sessions`,
  async measure(): Promise<Figure> {
    const data = await measureSnapshots();
    const { first, changed, copy, firstPuts, changedPuts, tidy } = data;
    return {
      lines: [
        {
          figure: `snapshot of ${TREE.files} files, all of them new`,
          measured: say(first),
          runs: `${first.ms.runs}`,
          bound: `two bare writes of as many bytes ${millis(firstPuts.ms, 1)}`,
          aim: writes(first),
        },
        {
          figure: `  after ${CHANGED} have changed`,
          measured: say(changed),
          runs: `${changed.ms.runs}`,
          bound: `two bare writes of as many bytes ${millis(changedPuts.ms, 1)}`,
          aim: writes(changed),
        },
        { figure: "  beside it, a copy of all", measured: say(copy), runs: `${copy.ms.runs}` },
        {
          figure: "  database, all files new twice",
          measured: `${mega(tidy.before)}; ${mega(tidy.after)} after the turn, ${tidy.rows} rows`,
          runs: "once: the same files take the same room",
        },
      ],
      data,
    };
  },
};

const say = ({ ms, cost }: Taken): string =>
  `${millis(ms, 1)}, ${cost.objects} R2 writes, ${(cost.bytes / 1_000).toFixed(1)} kB, ${cost.rows} rows`;
const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const writes = ({ cost }: Taken): string => `${aim(cost.objects, MOST_WRITES, "≤")} (R2 writes)`;

async function measureSnapshots(): Promise<SnapshotsFigure> {
  const runtime = await startRuntime(tmpdir(), "scripts/bench/snapshots/snapshot-worker.ts");
  const samples: Record<Work, Sample[]> = { first: [], changed: [], copy: [], firstPuts: [], changedPuts: [] };
  const ask = (path: string, session: number) => costOf(toUrl(runtime.service, path, session));
  const take = async (work: Work, path: string, session: number): Promise<Cost> => {
    const startedAt = performance.now();
    const cost = await ask(path, session);
    samples[work].push({ ms: performance.now() - startedAt, cost });
    return cost;
  };
  try {
    for (let session = 1; session <= RUNS; session += 1) {
      await ask(`/write?files=${TREE.files}`, session);
      const { bytes } = await take("first", "/snapshot", session);
      await take("firstPuts", `/puts?bytes=${bytes}`, session);
      for (let turn = 0; turn < LATER_TURNS; turn += 1) {
        await ask(`/write?files=${CHANGED}`, session);
        const later = await take("changed", "/snapshot", session);
        await take("changedPuts", `/puts?bytes=${later.bytes}`, session);
      }
      await take("copy", "/copy", session);
    }
    await ask(`/write?files=${TREE.files}`, RUNS);
    await ask("/snapshot", RUNS);
    const tidy = TidiedSchema.parse(await answerTo(toUrl(runtime.service, "/tidy", RUNS)));
    const taken = (work: Work) => toTaken(samples[work]);
    return {
      files: TREE.files,
      first: taken("first"),
      changed: taken("changed"),
      copy: taken("copy"),
      firstPuts: taken("firstPuts"),
      changedPuts: taken("changedPuts"),
      tidy,
    };
  } finally {
    await runtime.stop();
  }
}

type Work = "first" | "changed" | "copy" | "firstPuts" | "changedPuts";
type Sample = { ms: number; cost: Cost };

function toTaken(samples: readonly Sample[]): Taken {
  const most = (what: keyof Cost) => Math.max(...samples.map(({ cost }) => cost[what]));
  return {
    ms: spread(samples.map(({ ms }) => ms)),
    cost: { objects: most("objects"), bytes: most("bytes"), rows: most("rows") },
  };
}

function toUrl(service: string, path: string, session: number): string {
  const url = new URL(path, service);
  url.searchParams.set("session", String(session));
  return url.href;
}

const CostSchema = z.object({ objects: z.number(), bytes: z.number(), rows: z.number() });

const TidiedSchema = z.object({ before: z.number(), after: z.number(), rows: z.number() });

const costOf = async (url: string): Promise<Cost> => CostSchema.parse(await answerTo(url));

async function answerTo(url: string): Promise<unknown> {
  const response = await fetch(url, { method: "POST" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
