import { expect, it } from "vitest";
import { StepBudget } from "../../src/diff/changed-tokens";
import { lineChanges } from "../../src/diff/hunks";
import { wordParts } from "../../src/diff/words";
import { slowness } from "../machine-speed";
import { processorMs } from "./random-texts";

const MB = 1_000_000;
/** A slower machine has proportionally more time. */
const LIMIT_MS = 200 * slowness();
/** The least of several tries counts, because other work of the machine can only add time. */
const leastMs = (work: () => unknown): number =>
  Math.min(...[1, 2, 3].map(() => processorMs(work)));
const repeated = (text: string, count: number) => text.repeat(count);
/** Lines of few kinds in an order without a pattern. */
const random = (kinds: number, count: number, seed: number) => {
  let state = seed;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return `${Math.floor(state / 65_536) % kinds}\n`;
  };
  return Array.from({ length: count }, next).join("");
};
const numbered = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => `${index + first}\n`);

const PAIRS: { name: string; before: string; after: string }[] = [
  {
    name: "1 MB without line breaks",
    before: repeated("x", MB),
    after: `${repeated("x", MB - 1)}y`,
  },
  {
    name: "10^5 equal lines, and half of them",
    before: repeated("x\n", 1e5),
    after: repeated("x\n", 5e4),
  },
  {
    name: "10^5 equal lines, every second replaced",
    before: repeated("x\n", 1e5),
    after: repeated("x\ny\n", 5e4),
  },
  {
    name: "10^6 empty lines, with one word",
    before: repeated("\n", MB),
    after: `a${repeated("\n", MB - 1)}`,
  },
  { name: "two kinds of lines", before: random(2, 1e5, 1), after: random(2, 1e5, 2) },
  { name: "1,000 kinds of lines", before: random(1_000, 1e5, 1), after: random(1_000, 1e5, 2) },
  { name: "1 MB of two kinds of lines", before: random(2, MB / 2, 1), after: random(2, MB / 2, 2) },
  {
    name: "reversed lines",
    before: numbered(1e5).join(""),
    after: numbered(1e5).reverse().join(""),
  },
  {
    name: "halves in the other order",
    before: numbered(1e5).join(""),
    after: [...numbered(5e4, 5e4), ...numbered(5e4)].join(""),
  },
  {
    name: "lines with equal beginnings",
    before: Array.from({ length: 1_000 }, (_, n) => `${repeated("x", 990)}${n % 7}\n`).join(""),
    after: Array.from({ length: 1_000 }, (_, n) => `${repeated("x", 990)}${n % 5}\n`).join(""),
  },
];

it.each(PAIRS)("$name: the lines cost at most 200 ms", ({ before, after }) => {
  const ms = leastMs(() => lineChanges(before, after, new StepBudget()));
  expect(ms).toBeLessThan(LIMIT_MS);
});

it.each(PAIRS)("$name: the words of 256 KB cost at most 200 ms", ({ before, after }) => {
  const [old, fresh] = [before.slice(0, 262_144), after.slice(0, 262_144)];
  const ms = leastMs(() => wordParts(old, fresh, new StepBudget()));
  expect(ms).toBeLessThan(LIMIT_MS);
});

it("a diff of many hostile files ends with its steps", () => {
  const budget = new StepBudget();
  const [before, after] = [random(2, 20_000, 1), random(2, 20_000, 2)];
  let compared = 0;
  while (!budget.isSpent && compared < 1_000) {
    lineChanges(before, after, budget);
    compared += 1;
  }
  expect(compared).toBeLessThan(50);
});
