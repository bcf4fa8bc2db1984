import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import * as z from "zod";
import { worksOnFiles } from "../../simulated/providers/coding";
import type { Script } from "../../simulated/providers/reply";
import { startSimulatedProviders } from "../../simulated/providers/server";
import { type Spread, spread } from "./arithmetic";
import type { operations } from "./counting-bindings";
import { descriptionOf } from "./descriptions";
import { type Figure, type Measurement, range, times } from "./figure";
import { watchRun } from "./run-client";
import { startRuntime } from "./runtime";
import { idealCalls, runRequest, startTeam, teamOf } from "./simulated-team";

/** The platform operations of one run, including the work after its end. */
type Operations = typeof operations;
type Spreads = Record<keyof Operations, Spread>;
type OperationsFigure = { calls: number; plain: Spreads; withFiles: Spreads };

const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: null };
/** Waiting time for the work after a run's end, for example the upload of its files. */
const AFTERWARDS_MS = 3_000;
const AGENTS = 3;
const RUNS = 5;
const WRITERS = Array.from({ length: AGENTS }, (_, nth) => `writer-${nth + 1}`);
/** Each model writes different contents, because equal contents are uploaded only once. */
const MODELS = Object.fromEntries(WRITERS.map((name) => [name, writer(name)]));
const CountsSchema = z.object({ operations: z.record(z.string(), z.number()) });

export const OPERATIONS: Measurement = {
  ...descriptionOf("operations"),
  async measure(bench): Promise<Figure> {
    const data = await measureOperations(times(RUNS, bench));
    const describe = ({
      workerRequests,
      objectRequests,
      alarms,
      d1Statements,
      r2Writes,
      r2Reads,
    }: Spreads) =>
      `${countText(workerRequests)} requests of clients, ${countText(objectRequests)} to objects, ${countText(alarms)} alarms, ` +
      `${countText(d1Statements)} D1, ${countText(r2Writes)} + ${countText(r2Reads)} R2`;
    return {
      lines: [
        {
          figure: `a watched run of ${AGENTS}, ${data.calls} calls of models`,
          measured: describe(data.plain),
          runs: `${data.plain.alarms.runs}`,
          bound: "1 request of a client, 1 of its object, by definition",
        },
        {
          figure: "  with three files from each",
          measured: describe(data.withFiles),
          runs: `${data.withFiles.alarms.runs}`,
          bound: "the same, and 1 write to R2 for all files, by definition",
        },
      ],
      data,
    };
  },
};

/** A single number if all runs have the same count, otherwise median and range. */
const countText = (count: Spread): string =>
  count.min === count.max ? String(count.median) : range(count, 0);

async function measureOperations(wanted: number): Promise<OperationsFigure> {
  const runtime = await startRuntime(tmpdir(), "proof/bench/counting-worker.ts");
  const providers = await startTeam(LOAD, teamOf(AGENTS));
  const writers = await startSimulatedProviders({ models: MODELS });
  const countRun = async (body: string): Promise<Operations> => {
    const before = await countsOf(runtime.service);
    await watchRun(runtime.service, body);
    await sleep(AFTERWARDS_MS);
    const after = await countsOf(runtime.service);
    return {
      workerRequests: increaseOf("workerRequests", before, after),
      objectRequests: increaseOf("objectRequests", before, after),
      alarms: increaseOf("alarms", before, after),
      d1Statements: increaseOf("d1Statements", before, after),
      r2Writes: increaseOf("r2Writes", before, after),
      r2Reads: increaseOf("r2Reads", before, after),
    };
  };
  try {
    const runs: Record<"plain" | "withFiles", Operations>[] = [];
    while (runs.length < wanted) {
      const plain = await countRun(runRequest(providers, teamOf(AGENTS)));
      runs.push({ plain, withFiles: await countRun(fileRequest(writers.baseUrl)) });
    }
    const spreads = (of: "plain" | "withFiles") => toSpreads(runs.map((run) => run[of]));
    return { calls: idealCalls(AGENTS), plain: spreads("plain"), withFiles: spreads("withFiles") };
  } finally {
    await providers.close();
    await writers.close();
    await runtime.stop();
  }
}

function toSpreads(runs: readonly Operations[]): Spreads {
  const of = (what: keyof Operations) => spread(runs.map((run) => run[what]));
  return {
    workerRequests: of("workerRequests"),
    objectRequests: of("objectRequests"),
    alarms: of("alarms"),
    d1Statements: of("d1Statements"),
    r2Writes: of("r2Writes"),
    r2Reads: of("r2Reads"),
  };
}

type Counts = Readonly<Record<string, number>>;
const increaseOf = (what: keyof Operations, before: Counts, after: Counts): number =>
  (after[what] ?? 0) - (before[what] ?? 0);
const countsOf = async (service: string): Promise<Counts> =>
  CountsSchema.parse(await (await fetch(`${service}/bench/counts`)).json()).operations;

function writer(name: string): Script {
  const file = (path: string): [string, Record<string, unknown>] => [
    "write_file",
    { path, content: `${path} of ${name}` },
  ];
  return worksOnFiles({
    first: [file("src/a.txt"), file("src/b.txt"), file("src/c.txt")],
    answer: "It is in src.",
  });
}

function fileRequest(baseUrl: string): string {
  const agents = WRITERS.map((name) => ({
    id: name,
    backend: {
      type: "chatcompletion",
      model: name,
      base_url: baseUrl,
      api_key: "simulated",
      cwd: "work",
    },
  }));
  return JSON.stringify({ question: "Where is it?", config: { agents } });
}
