import { tmpdir } from "node:os";
import { z } from "zod";
import { type Spread, spread } from "../arithmetic";
import { aim, type Figure, type Measurement, millis, range, times } from "../figure";
import { startRuntime } from "../runtime";
import { type Cost, TREE } from "./snapshot-costs";

/** What it costs to freeze a tree with an answer and to bring it to R2, beside copying it. */
type SnapshotsFigure = Record<Work, Taken> & { files: number; tidy: Record<keyof Tidied, Spread> };
/** Each beside as many bytes in as many objects that are written and nothing else. */
type Work = "first" | "changed" | "copy" | "firstPuts" | "changedPuts" | "copyPuts";
/** Bytes of the session's database, and rows written, as a turn ends in which every file was written anew. */
type Tidied = { before: number; after: number; rows: number };
/** `cost`: the most of any. */
type Taken = { ms: Spread; cost: Cost };

const CHANGED = 3;
/** Sessions, each with a first snapshot, later ones, a copy, and a turn in which all files are written anew. */
const RUNS = 5;
/** Turns after the first in each session: a result in eight is written whole, so these never are. */
const LATER_TURNS = 2;
/** A pack of what is new, and the manifest. */
const MOST_WRITES = 2;
/** Bytes of the contents alone: of all that a session has written, and of its latest tree. */
const CONTENTS = {
  before: (2 * TREE.files + LATER_TURNS * CHANGED) * TREE.fileBytes,
  after: TREE.files * TREE.fileBytes,
} as const;

export const SNAPSHOTS: Measurement = {
  name: "snapshots",
  about: `Snapshots of ${TREE.files} files`,
  async measure(bench): Promise<Figure> {
    const data = await measureSnapshots(times(RUNS, bench));
    const { first, changed, copy, firstPuts, changedPuts, copyPuts, tidy } = data;
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
        {
          figure: "  beside it, a copy of all",
          measured: say(copy),
          runs: `${copy.ms.runs}`,
          bound: `as many bare writes of as many bytes ${millis(copyPuts.ms, 1)}`,
        },
        {
          figure: "  database, all files new twice",
          measured: `${mega(tidy.before)}; after the turn ${mega(tidy.after)}, ${range(tidy.rows, 0)} rows`,
          runs: `${tidy.before.runs}`,
          bound: `contents alone ${CONTENTS.before / 1e6} MB; ${CONTENTS.after / 1e6} MB`,
        },
      ],
      data,
    };
  },
};

const say = ({ ms, cost }: Taken): string =>
  `${millis(ms, 1)}, ${cost.objects} R2 writes, ${(cost.bytes / 1_000).toFixed(1)} kB, ${cost.rows} rows`;
const mega = ({ median, min, max, runs }: Spread): string =>
  `${range({ median: median / 1e6, min: min / 1e6, max: max / 1e6, runs }, 1)} MB`;
const writes = ({ cost }: Taken): string => `${aim(cost.objects, MOST_WRITES, "≤")} (R2 writes)`;

async function measureSnapshots(sessions: number): Promise<SnapshotsFigure> {
  const runtime = await startRuntime(tmpdir(), "proof/bench/snapshots/snapshot-worker.ts");
  const samples: Record<Work, Sample[]> = {
    first: [],
    changed: [],
    copy: [],
    firstPuts: [],
    changedPuts: [],
    copyPuts: [],
  };
  const tidied: Tidied[] = [];
  const ask = (path: string, session: number) => costOf(toUrl(runtime.service, path, session));
  const take = async (work: Work, path: string, session: number): Promise<Cost> => {
    const startedAt = performance.now();
    const cost = await ask(path, session);
    samples[work].push({ ms: performance.now() - startedAt, cost });
    return cost;
  };
  try {
    for (let session = 1; session <= sessions; session += 1) {
      await ask(`/write?files=${TREE.files}`, session);
      const { bytes } = await take("first", "/snapshot", session);
      await take("firstPuts", `/puts?objects=${MOST_WRITES}&bytes=${bytes}`, session);
      for (let turn = 0; turn < LATER_TURNS; turn += 1) {
        await ask(`/write?files=${CHANGED}`, session);
        const later = await take("changed", "/snapshot", session);
        await take("changedPuts", `/puts?objects=${MOST_WRITES}&bytes=${later.bytes}`, session);
      }
      const copied = await take("copy", "/copy", session);
      await take("copyPuts", `/puts?objects=${copied.objects}&bytes=${copied.bytes}`, session);
      await ask(`/write?files=${TREE.files}`, session);
      await ask("/snapshot", session);
      tidied.push(TidiedSchema.parse(await answerTo(toUrl(runtime.service, "/tidy", session))));
    }
    const taken = (work: Work) => toTaken(samples[work]);
    return {
      files: TREE.files,
      first: taken("first"),
      changed: taken("changed"),
      copy: taken("copy"),
      firstPuts: taken("firstPuts"),
      changedPuts: taken("changedPuts"),
      copyPuts: taken("copyPuts"),
      tidy: toSpreads(tidied),
    };
  } finally {
    await runtime.stop();
  }
}

type Sample = { ms: number; cost: Cost };

function toTaken(samples: readonly Sample[]): Taken {
  const most = (what: keyof Cost) => Math.max(...samples.map(({ cost }) => cost[what]));
  return {
    ms: spread(samples.map(({ ms }) => ms)),
    cost: { objects: most("objects"), bytes: most("bytes"), rows: most("rows") },
  };
}

function toSpreads(tidied: readonly Tidied[]): Record<keyof Tidied, Spread> {
  const of = (what: keyof Tidied) => spread(tidied.map((one) => one[what]));
  return { before: of("before"), after: of("after"), rows: of("rows") };
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
