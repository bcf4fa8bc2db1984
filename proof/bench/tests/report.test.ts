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

it("the table has each figure beside its runs, its bound and its aim, and says last what is not exact", () => {
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

it("the file's schema takes what was measured", () => {
  expect(ResultsSchema.parse(JSON.parse(JSON.stringify(RESULTS)))).toEqual(RESULTS);
});

const WHOLE = { figure: "how quick", measured: "3 ms", runs: "7", bound: "bare 2 ms" };
const told = (...lines: object[]) => ({ quick: { seconds: 1, lines, data: {}, broken: [] } });

it.each([
  { name: "takes a row without an aim", figures: told(WHOLE), taken: true },
  {
    name: "refuses a figure without its rows",
    figures: { quick: { seconds: 1, data: {}, broken: [] } },
    taken: false,
  },
  { name: "refuses a figure that was not taken", figures: { quick: undefined }, taken: false },
  {
    name: "refuses a row without its bound",
    figures: told({ ...WHOLE, bound: undefined }),
    taken: false,
  },
  {
    name: "refuses a row that does not say how often it was measured",
    figures: told({ ...WHOLE, runs: undefined }),
    taken: false,
  },
])("the file's schema $name", ({ figures, taken }) => {
  expect(ResultsSchema.safeParse({ ...RESULTS, figures }).success).toBe(taken);
});

it.each([
  { name: "an aim is met below its limit", value: 4.9, sign: "<", said: "< 5: met" },
  { name: "and missed at it", value: 5, sign: "<", said: "< 5: missed" },
  { name: "unless the limit itself will do", value: 5, sign: "≤", said: "≤ 5: met" },
  { name: "what is no number meets none", value: Number.NaN, sign: "≤", said: "≤ 5: missed" },
] as const)("$name", ({ value, sign, said }) => {
  expect(aim(value, 5, sign)).toBe(said);
});

it("the same seed draws the same prices, another seed others, whatever else is drawn", () => {
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
