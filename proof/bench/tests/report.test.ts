import { expect, it } from "vitest";
import { aim, verdict } from "../figure";
import { chanceFor } from "../chance";
import { drawPrices } from "../random-prices";
import { type Results, ResultsSchema, toTable } from "../report";

const RESULTS: Results = {
  takenAt: "2026-11-22T12:00:00.000Z",
  seed: 7,
  machine: { cpus: 2, model: "CPU", load: 0.42, node: "24.0.0", system: "Linux 6" },
  figures: {
    quick: {
      seconds: 1.5,
      lines: [
        {
          figure: "how quick",
          measured: "3 ms",
          runs: "7",
          bound: "bare 2 ms",
          aim: aim(3, 5, "<"),
        },
      ],
      data: { ms: 3 },
      broken: [],
    },
    exact: {
      seconds: 2,
      lines: [
        {
          figure: "how exact",
          measured: "1 lost",
          runs: "9",
          bound: "0",
          aim: verdict("0", false),
        },
      ],
      data: null,
      broken: ["1 event was lost (seed 7)."],
    },
  },
};

it("the table shows each figure's runs, bound and aim, and then the violations", () => {
  expect(toTable(RESULTS)).toBe(
    [
      "2 × CPU, load 0.4, Node 24.0.0, Linux 6, seed 7",
      "median (least – most)",
      "",
      "figure     measured  runs  lower bound, same run  aim",
      "how quick  3 ms      7     bare 2 ms              < 5: met",
      "how exact  1 lost    9     0                      0: missed",
      "",
      "✗ 1 event was lost (seed 7).",
      "",
    ].join("\n"),
  );
});

it("the file's schema accepts results", () => {
  expect(ResultsSchema.parse(JSON.parse(JSON.stringify(RESULTS)))).toEqual(RESULTS);
});

const ROW_WITHOUT_AIM = { figure: "how quick", measured: "3 ms", runs: "7", bound: "bare 2 ms" };
const figuresWith = (...lines: object[]) => ({
  quick: { seconds: 1, lines, data: {}, broken: [] },
});

it.each([
  { name: "accepts a row without an aim", figures: figuresWith(ROW_WITHOUT_AIM), isValid: true },
  {
    name: "rejects a figure without rows",
    figures: { quick: { seconds: 1, data: {}, broken: [] } },
    isValid: false,
  },
  { name: "rejects a missing figure", figures: { quick: undefined }, isValid: false },
  {
    name: "rejects a row without its bound",
    figures: figuresWith({ ...ROW_WITHOUT_AIM, bound: undefined }),
    isValid: false,
  },
  {
    name: "rejects a row without its number of runs",
    figures: figuresWith({ ...ROW_WITHOUT_AIM, runs: undefined }),
    isValid: false,
  },
])("the file's schema $name", ({ figures, isValid }) => {
  expect(ResultsSchema.safeParse({ ...RESULTS, figures }).success).toBe(isValid);
});

it.each([
  { name: "an aim is met below its limit", value: 4.9, sign: "<", text: "< 5: met" },
  { name: "an aim is missed at an exclusive limit", value: 5, sign: "<", text: "< 5: missed" },
  { name: "an aim is met at an inclusive limit", value: 5, sign: "≤", text: "≤ 5: met" },
  { name: "NaN meets no aim", value: Number.NaN, sign: "≤", text: "≤ 5: missed" },
] as const)("$name", ({ value, sign, text }) => {
  expect(aim(value, 5, sign)).toBe(text);
});

it("the prices depend only on the seed, and another seed gives other prices", () => {
  const drawn = (seed: number) => [...drawPrices(chanceFor(seed, "prices"), 24)];
  chanceFor(7, "kill").unit();
  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(8)).not.toEqual(drawn(7));
  expect(chanceFor(7, "resume", 1, 12).unit()).not.toBe(chanceFor(7, "resume", 11, 2).unit());
  for (const [, { input, output }] of drawn(7)) {
    expect(input).toBeGreaterThan(0);
    expect(output).toBeGreaterThanOrEqual(input);
  }
  expect(new Set(drawn(7).map(([, { input }]) => input)).size).toBe(24);
});
