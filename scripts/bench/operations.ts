import { setTimeout as sleep } from "node:timers/promises";
import { tmpdir } from "node:os";
import { z } from "zod";
import { worksOnFiles } from "../simulated-providers/coding";
import { startSimulatedProviders } from "../simulated-providers/server";
import type { operations } from "./counting-bindings";
import type { Figure, Measurement } from "./figure";
import { watchRun } from "./run-client";
import { startRuntime } from "./runtime";
import { idealCalls, runRequest, startTeam, teamOf } from "./team";

/** What one run uses of the platform, from its start to the last thing that is done for it. */
type Operations = typeof operations;
type OperationsFigure = { calls: number; plain: Operations; withFiles: Operations };

const LOAD = { answerTokens: 20, voteTokens: 20, presentationTokens: 20, pace: null };
/** What follows a run's end, such as the upload of its files, is done by then. */
const AFTERWARDS_MS = 3_000;
const AGENTS = 3;
const WRITER = worksOnFiles({
  first: [
    ["write_file", { path: "src/a.txt", content: "one" }],
    ["write_file", { path: "src/b.txt", content: "two" }],
    ["write_file", { path: "src/c.txt", content: "three" }],
  ],
  answer: "It is in src.",
});
const CountsSchema = z.object({ operations: z.record(z.string(), z.number()) });

export const OPERATIONS: Measurement = {
  name: "operations",
  about: "Requests, alarms, and uses of D1 and R2 of one run",
  counts: true,
  async measure(): Promise<Figure> {
    const data = await measureOperations();
    const told = ({ workerRequests, objectRequests, alarms, d1Statements, r2Writes, r2Reads }: Operations) =>
      `${workerRequests + objectRequests} requests, ${alarms} alarms, ${d1Statements} D1, ${r2Writes} + ${r2Reads} R2`;
    return {
      lines: [
        [`a watched run of ${AGENTS}`, told(data.plain), `${data.calls} calls of models`, ""],
        ["  with three files from each", told(data.withFiles), "", ""],
      ],
      data,
    };
  },
};

async function measureOperations(): Promise<OperationsFigure> {
  const runtime = await startRuntime(tmpdir(), "scripts/bench/counting-worker.ts");
  const providers = await startTeam(LOAD, teamOf(AGENTS));
  const writers = await startSimulatedProviders({ models: { writer: WRITER } });
  const counted = async (body: string): Promise<Operations> => {
    const before = await countsOf(runtime.service);
    await watchRun(runtime.service, body);
    await sleep(AFTERWARDS_MS);
    const after = await countsOf(runtime.service);
    return {
      workerRequests: used("workerRequests", before, after),
      objectRequests: used("objectRequests", before, after),
      alarms: used("alarms", before, after),
      d1Statements: used("d1Statements", before, after),
      r2Writes: used("r2Writes", before, after),
      r2Reads: used("r2Reads", before, after),
    };
  };
  try {
    const plain = await counted(runRequest(providers, teamOf(AGENTS)));
    return { calls: idealCalls(AGENTS), plain, withFiles: await counted(fileRequest(writers.baseUrl)) };
  } finally {
    await providers.close();
    await writers.close();
    await runtime.stop();
  }
}

type Counts = Readonly<Record<string, number>>;
const used = (what: keyof Operations, before: Counts, after: Counts): number => (after[what] ?? 0) - (before[what] ?? 0);
const countsOf = async (service: string): Promise<Counts> =>
  CountsSchema.parse(await (await fetch(`${service}/bench/counts`)).json()).operations;

function fileRequest(baseUrl: string): string {
  const agents = Array.from({ length: AGENTS }, (_, nth) => ({
    id: `writer-${nth + 1}`,
    backend: { type: "chatcompletion", model: "writer", base_url: baseUrl, api_key: "simulated", cwd: "work" },
  }));
  return JSON.stringify({ question: "Where is it?", config: { agents } });
}
