import { tmpdir } from "node:os";
import { z } from "zod";
import { type Spread, spread } from "../arithmetic";
import { aim, type Figure, type Measurement, millis } from "../figure";
import { startRuntime } from "../runtime";
import { type Cost, TREE } from "./snapshot-costs";

/** What it costs to freeze a tree with an answer and to bring it to R2, beside copying it. */
type SnapshotsFigure = { files: number; first: Taken; changed: Taken; copy: Taken; tidy: Tidied };
/** Bytes of the session's database, and rows written, as a turn ends in which every file was written anew. */
type Tidied = { before: number; after: number; rows: number };
/** `cost` is the same each time. */
type Taken = { ms: Spread; cost: Cost };

const CHANGED = 3;
/** Turns after the first: a result in eight is written whole. */
const RUNS = { changed: 6, copy: 3 };
/** A pack of what is new, and the manifest. */
const MOST_WRITES = 2;

export const SNAPSHOTS: Measurement = {
  name: "snapshots",
  about: `Snapshots of ${TREE.files} files`,
  async measure(): Promise<Figure> {
    const data = await measureSnapshots();
    const { first, changed, copy, tidy } = data;
    return {
      lines: [
        [`snapshot of ${TREE.files} files, all of them new`, say(first), "", writes(first)],
        [`  after ${CHANGED} have changed (${RUNS.changed} runs)`, say(changed), `copy of all: ${say(copy)}`, writes(changed)],
        [
          "  database, all files new twice",
          `${mega(tidy.before)}; ${mega(tidy.after)} after the turn, ${tidy.rows} rows`,
          "",
          "",
        ],
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
  const ask = (path: string) => costOf(`${runtime.service}${path}`);
  const taken = async (runs: number, work: string, prepare?: string): Promise<Taken> => {
    const times: number[] = [];
    let cost: Cost | null = null;
    while (times.length < runs) {
      if (prepare !== undefined) await ask(prepare);
      const startedAt = performance.now();
      cost = await ask(work);
      times.push(performance.now() - startedAt);
    }
    if (!cost) throw new Error("Nothing was measured.");
    return { ms: spread(times), cost };
  };
  try {
    const first = await taken(1, "/snapshot", `/write?files=${TREE.files}`);
    const changed = await taken(RUNS.changed, "/snapshot", `/write?files=${CHANGED}`);
    const copy = await taken(RUNS.copy, "/copy");
    await taken(1, "/snapshot", `/write?files=${TREE.files}`);
    const tidy = TidiedSchema.parse(await answerTo(`${runtime.service}/tidy`));
    return { files: TREE.files, first, changed, copy, tidy };
  } finally {
    await runtime.stop();
  }
}

const CostSchema = z.object({ objects: z.number(), bytes: z.number(), rows: z.number() });

const TidiedSchema = z.object({ before: z.number(), after: z.number(), rows: z.number() });

const costOf = async (url: string): Promise<Cost> => CostSchema.parse(await answerTo(url));

async function answerTo(url: string): Promise<unknown> {
  const response = await fetch(url, { method: "POST" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
