import { tmpdir } from "node:os";
import * as z from "zod";
import { type Spread, spread } from "../arithmetic";
import { descriptionOf } from "../descriptions";
import { aim, type Figure, type Measurement, millis, range, times } from "../figure";
import { startRuntime } from "../runtime";
import type { Cost } from "./snapshot-costs";
import { TREE } from "./tree";

/** The cost of a snapshot of a file tree with its upload to R2, compared with a copy. */
type SnapshotsFigure = Record<Work, WorkFigure> & {
  files: number;
  tidy: Record<keyof TidyCost, Spread>;
};
/**
 * The measured operations: the first snapshot, a snapshot after a few changes, and a copy. Each has
 * a lower bound: plain writes (`…Puts`) of as many bytes and objects.
 */
type Work = "first" | "changed" | "copy" | "firstPuts" | "changedPuts" | "copyPuts";
/**
 * Size of the session's database in bytes, and rows written, at the end of a turn that rewrote
 * every file.
 */
type TidyCost = { before: number; after: number; rows: number };
/** `cost`: the maximum of all samples. */
type WorkFigure = { ms: Spread; cost: Cost };

/** Number of files that a later turn changes. */
const CHANGED = 3;
/**
 * Number of sessions. Each has a first snapshot, later snapshots, a copy, and a turn that rewrites
 * all files.
 */
const RUNS = 5;
/**
 * Turns after the first turn in each session. They are so few that each snapshot stores only its
 * changes: a result is stored completely only if it would need more than eight manifests.
 */
const LATER_TURNS = 2;
/** A snapshot writes at most two objects: a pack of new contents, and the manifest. */
const MOST_WRITES = 2;
/**
 * Bytes of the file contents alone. `before`: all contents that a session has written. `after`: the
 * contents of its latest tree.
 */
const CONTENTS = {
  before: (2 * TREE.files + LATER_TURNS * CHANGED) * TREE.fileBytes,
  after: TREE.files * TREE.fileBytes,
} as const;

export const SNAPSHOTS: Measurement = {
  ...descriptionOf("snapshots"),
  async measure(bench): Promise<Figure> {
    const data = await measureSnapshots(times(RUNS, bench));
    const { first, changed, copy, firstPuts, changedPuts, copyPuts, tidy } = data;
    return {
      lines: [
        {
          figure: `snapshot of ${TREE.files} files, all of them new`,
          measured: describe(first),
          runs: `${first.ms.runs}`,
          bound: `two bare writes of as many bytes ${millis(firstPuts.ms, 1)}`,
          aim: writes(first),
        },
        {
          figure: `  after ${CHANGED} have changed`,
          measured: describe(changed),
          runs: `${changed.ms.runs}`,
          bound: `two bare writes of as many bytes ${millis(changedPuts.ms, 1)}`,
          aim: writes(changed),
        },
        {
          figure: "  a copy of all files",
          measured: describe(copy),
          runs: `${copy.ms.runs}`,
          bound: `as many bare writes of as many bytes ${millis(copyPuts.ms, 1)}`,
        },
        {
          figure: "  database after rewriting all files",
          measured: `${mega(tidy.before)}; after the turn ${mega(tidy.after)}, ${range(tidy.rows, 0)} rows`,
          runs: `${tidy.before.runs}`,
          bound: `contents alone ${CONTENTS.before / 1e6} MB; ${CONTENTS.after / 1e6} MB`,
        },
      ],
      data: {
        ...data,
        // for the documents, which show MB
        databaseMb: {
          afterWriting: tidy.before.median / 1e6,
          afterTheTurn: tidy.after.median / 1e6,
        },
      },
    };
  },
};

const describe = ({ ms, cost }: WorkFigure): string =>
  `${millis(ms, 1)}, ${cost.objects} R2 writes, ${(cost.bytes / 1_000).toFixed(1)} kB, ${cost.rows} rows`;
const mega = ({ median, min, max, runs }: Spread): string =>
  `${range({ median: median / 1e6, min: min / 1e6, max: max / 1e6, runs }, 1)} MB`;
const writes = ({ cost }: WorkFigure): string =>
  `${aim(cost.objects, MOST_WRITES, "≤")} (R2 writes)`;

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
  const tidied: TidyCost[] = [];
  const request = (path: string, session: number) => costOf(toUrl(runtime.service, path, session));
  const take = async (work: Work, path: string, session: number): Promise<Cost> => {
    const startedAt = performance.now();
    const cost = await request(path, session);
    samples[work].push({ ms: performance.now() - startedAt, cost });
    return cost;
  };
  try {
    for (let session = 1; session <= sessions; session += 1) {
      await request(`/write?files=${TREE.files}`, session);
      const { bytes } = await take("first", "/snapshot", session);
      await take("firstPuts", `/puts?objects=${MOST_WRITES}&bytes=${bytes}`, session);
      for (let turn = 0; turn < LATER_TURNS; turn += 1) {
        await request(`/write?files=${CHANGED}`, session);
        const later = await take("changed", "/snapshot", session);
        await take("changedPuts", `/puts?objects=${MOST_WRITES}&bytes=${later.bytes}`, session);
      }
      const copied = await take("copy", "/copy", session);
      await take("copyPuts", `/puts?objects=${copied.objects}&bytes=${copied.bytes}`, session);
      await request(`/write?files=${TREE.files}`, session);
      await request("/snapshot", session);
      tidied.push(TidyCostSchema.parse(await answerTo(toUrl(runtime.service, "/tidy", session))));
    }
    const taken = (work: Work) => toWorkFigure(samples[work]);
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

function toWorkFigure(samples: readonly Sample[]): WorkFigure {
  const most = (what: keyof Cost) => Math.max(...samples.map(({ cost }) => cost[what]));
  return {
    ms: spread(samples.map(({ ms }) => ms)),
    cost: { objects: most("objects"), bytes: most("bytes"), rows: most("rows") },
  };
}

function toSpreads(tidied: readonly TidyCost[]): Record<keyof TidyCost, Spread> {
  const of = (what: keyof TidyCost) => spread(tidied.map((one) => one[what]));
  return { before: of("before"), after: of("after"), rows: of("rows") };
}

function toUrl(service: string, path: string, session: number): string {
  const url = new URL(path, service);
  url.searchParams.set("session", String(session));
  return url.href;
}

const CostSchema = z.object({ objects: z.number(), bytes: z.number(), rows: z.number() });

const TidyCostSchema = z.object({ before: z.number(), after: z.number(), rows: z.number() });

const costOf = async (url: string): Promise<Cost> => CostSchema.parse(await answerTo(url));

async function answerTo(url: string): Promise<unknown> {
  const response = await fetch(url, { method: "POST" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
