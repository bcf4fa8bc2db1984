import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { Worker } from "./worker";
import type { Order } from "./schema";

const ORDER = { type: "try", sessions: 1, mutant: "7", checks: [], hitLimit: 1 } satisfies Order;
/**
 * Timeouts for an answer. The test waits the whole timeout only for a silent process. The other
 * processes answer or exit earlier, but a busy machine can delay them.
 */
const TIMEOUT_MS = { silence: 4_000, other: 60_000 };
const workers: Worker[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

type Behaviour = "answers" | "exits" | "is silent" | "does not load";

/**
 * A worker whose first process has the first behaviour, its second process the second, and so on.
 * `countStarted` returns the number of started processes.
 */
async function workerWith(
  behaviours: readonly Behaviour[],
): Promise<{ worker: Worker; countStarted: () => Promise<number> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "massgen-worker-"));
  folders.push(folder);
  const log = path.join(folder, "log");
  await writeFile(log, "");
  const file = path.join(folder, "process.mjs");
  await writeFile(
    file,
    `import { appendFileSync, readFileSync } from "node:fs";
const nth = readFileSync(${JSON.stringify(log)}, "utf8").length;
appendFileSync(${JSON.stringify(log)}, ".");
const behaviour = ${JSON.stringify(behaviours)}[nth];
process.on("message", () => {
  if (behaviour === "answers") process.send("answer of " + (nth + 1));
  if (behaviour === "exits") process.exit(1);
});
if (behaviour === "does not load") process.exit(1);
process.send("ready");
`,
  );
  const worker = new Worker(file);
  workers.push(worker);
  return { worker, countStarted: async () => (await readFile(log, "utf8")).length };
}

it.each<{ name: string; behaviours: Behaviour[]; answer: string | null }>([
  { name: "that answers is not replaced", behaviours: ["answers"], answer: "answer of 1" },
  {
    name: "that exits is replaced, and its successor gets the order",
    behaviours: ["exits", "answers"],
    answer: "answer of 2",
  },
  {
    name: "that does not answer is replaced, and its successor gets the order",
    behaviours: ["is silent", "answers"],
    answer: "answer of 2",
  },
  {
    name: "that does not answer, like its successor, gives no answer",
    behaviours: ["is silent", "is silent"],
    answer: null,
  },
  {
    name: "that exits, like its successor, gives no answer",
    behaviours: ["exits", "exits"],
    answer: null,
  },
])("a process $name", async ({ behaviours, answer }) => {
  const { worker, countStarted } = await workerWith(behaviours);
  const timeoutMs = behaviours.includes("is silent") ? TIMEOUT_MS.silence : TIMEOUT_MS.other;
  expect(await worker.ask(ORDER, timeoutMs)).toBe(answer);
  expect(await countStarted()).toBe(behaviours.length);
});

it.each<{ name: string; behaviours: Behaviour[]; answer: string | null }>([
  {
    name: "does not load is replaced, and its successor gets the order",
    behaviours: ["does not load", "answers"],
    answer: "answer of 2",
  },
  {
    name: "does not load, like its successor, gives no answer",
    behaviours: ["does not load", "does not load"],
    answer: null,
  },
])(
  "a process with a mutant that is active while it loads and that $name",
  async ({ behaviours, answer }) => {
    const { worker, countStarted } = await workerWith(behaviours);
    expect(await worker.askFresh(ORDER, TIMEOUT_MS.other)).toBe(answer);
    expect(await countStarted()).toBe(behaviours.length);
  },
);

it("throws if a process without an active mutant does not load", async () => {
  const { worker } = await workerWith(["does not load", "does not load"]);
  await expect(worker.ask(ORDER, TIMEOUT_MS.other)).rejects.toThrow(
    "did not load within 30 s, twice",
  );
});
