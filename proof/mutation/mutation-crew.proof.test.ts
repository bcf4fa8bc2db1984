import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { Worker } from "./worker";
import type { Order } from "./schema";

const ORDER = { type: "try", sessions: 1, mutant: "7", checks: [], hitLimit: 1 } satisfies Order;
/**
 * Only a silent process uses the whole timeout. A process that answers or exits may need longer on
 * a busy machine.
 */
const TIMEOUT_MS = { silence: 4_000, other: 60_000 };
const workers: Worker[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) worker.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

type Way = "answers" | "dies" | "is silent" | "does not load";

/**
 * A worker whose processes behave like this, one after the other, and the number of started
 * processes.
 */
async function workerWith(
  ways: readonly Way[],
): Promise<{ worker: Worker; started: () => Promise<number> }> {
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
const way = ${JSON.stringify(ways)}[nth];
process.on("message", () => {
  if (way === "answers") process.send("answer of " + (nth + 1));
  if (way === "dies") process.exit(1);
});
if (way === "does not load") process.exit(1);
process.send("ready");
`,
  );
  const worker = new Worker(file);
  workers.push(worker);
  return { worker, started: async () => (await readFile(log, "utf8")).length };
}

it.each<{ name: string; ways: Way[]; answer: string | null }>([
  { name: "that answers gets one order", ways: ["answers"], answer: "answer of 1" },
  {
    name: "that dies is replaced, and the order repeated",
    ways: ["dies", "answers"],
    answer: "answer of 2",
  },
  {
    name: "that does not answer is replaced, and the order repeated",
    ways: ["is silent", "answers"],
    answer: "answer of 2",
  },
  {
    name: "that does not answer twice gives no answer",
    ways: ["is silent", "is silent"],
    answer: null,
  },
  { name: "that dies twice gives no answer", ways: ["dies", "dies"], answer: null },
])("a process $name", async ({ ways, answer }) => {
  const { worker, started } = await workerWith(ways);
  expect(
    await worker.ask(ORDER, ways.includes("is silent") ? TIMEOUT_MS.silence : TIMEOUT_MS.other),
  ).toBe(answer);
  expect(await started()).toBe(ways.length);
});

it.each<{ name: string; ways: Way[]; answer: string | null }>([
  {
    name: "does not load is replaced, and the order repeated",
    ways: ["does not load", "answers"],
    answer: "answer of 2",
  },
  {
    name: "does not load twice gives no answer",
    ways: ["does not load", "does not load"],
    answer: null,
  },
])("a process that loads with an active mutant and $name", async ({ ways, answer }) => {
  const { worker, started } = await workerWith(ways);
  expect(await worker.askFresh(ORDER, TIMEOUT_MS.other)).toBe(answer);
  expect(await started()).toBe(ways.length);
});

it("a failure to load without a mutant is an error", async () => {
  const { worker } = await workerWith(["does not load", "does not load"]);
  await expect(worker.ask(ORDER, TIMEOUT_MS.other)).rejects.toThrow(
    "did not load within 30 s, twice",
  );
});
