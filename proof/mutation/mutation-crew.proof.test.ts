import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { Hand } from "./crew";
import type { Order } from "./schema";

const ORDER = { type: "try", sessions: 1, mutant: "7", checks: [], hitLimit: 1 } satisfies Order;
/** Only silence is waited out; a process that answers, or is gone, may take its time on a busy machine. */
const PATIENCE_MS = { silence: 4_000, other: 60_000 };
const hands: Hand[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const hand of hands.splice(0)) hand.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

type Way = "answers" | "dies" | "is silent" | "does not load";

/** A hand whose processes behave so, one after the other, and how many there were. */
async function handWith(
  ways: readonly Way[],
): Promise<{ hand: Hand; started: () => Promise<number> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "massgen-hand-"));
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
  if (way === "answers") process.send("told by " + (nth + 1));
  if (way === "dies") process.exit(1);
});
if (way === "does not load") process.exit(1);
process.send("ready");
`,
  );
  const hand = new Hand(file);
  hands.push(hand);
  return { hand, started: async () => (await readFile(log, "utf8")).length };
}

it.each<{ name: string; ways: Way[]; answer: string | null }>([
  { name: "that answers is asked once", ways: ["answers"], answer: "told by 1" },
  { name: "that dies is asked once more", ways: ["dies", "answers"], answer: "told by 2" },
  {
    name: "that keeps silent is asked once more",
    ways: ["is silent", "answers"],
    answer: "told by 2",
  },
  {
    name: "that keeps silent twice has given no answer",
    ways: ["is silent", "is silent"],
    answer: null,
  },
  { name: "that dies twice has given none", ways: ["dies", "dies"], answer: null },
])("a process $name", async ({ ways, answer }) => {
  const { hand, started } = await handWith(ways);
  expect(
    await hand.ask(ORDER, ways.includes("is silent") ? PATIENCE_MS.silence : PATIENCE_MS.other),
  ).toBe(answer);
  expect(await started()).toBe(ways.length);
});

it.each<{ name: string; ways: Way[]; answer: string | null }>([
  {
    name: "does not load is asked once more",
    ways: ["does not load", "answers"],
    answer: "told by 2",
  },
  {
    name: "does not load twice has given no answer",
    ways: ["does not load", "does not load"],
    answer: null,
  },
])("a process that has the mutant in it from the beginning and $name", async ({ ways, answer }) => {
  const { hand, started } = await handWith(ways);
  expect(await hand.askFresh(ORDER, PATIENCE_MS.other)).toBe(answer);
  expect(await started()).toBe(ways.length);
});

it("a process that does not load with nothing changed is no mutant's doing", async () => {
  const { hand } = await handWith(["does not load", "does not load"]);
  await expect(hand.ask(ORDER, PATIENCE_MS.other)).rejects.toThrow(
    "did not load within 30 s, twice",
  );
});
