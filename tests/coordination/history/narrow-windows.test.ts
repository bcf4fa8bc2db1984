import { describe, expect, it } from "vitest";
import { windowsAfter } from "../../../src/coordination";
import { halvingsOf } from "../../../src/coordination/history/narrow-windows";

const MINI = { provider: "openai", model: "mini" };
const LOCAL = { provider: "ollama", model: "local" };
const LONG_HISTORY = { history: 60_000, question: 2_000 };

type Row = { name: string } & Parameters<typeof windowsAfter>[0] & {
    then: { provider: string; model: string; halvings: number }[];
  };

const rows: Row[] = [
  {
    name: "halves the space of a model whose request was refused",
    ...{ earlier: [], refused: [MINI], bytes: LONG_HISTORY },
    then: [{ ...MINI, halvings: 1 }],
  },
  {
    name: "halves it once for several calls of the turn",
    ...{ earlier: [], refused: [MINI, MINI], bytes: LONG_HISTORY },
    then: [{ ...MINI, halvings: 1 }],
  },
  {
    name: "halves it again after another refused turn",
    ...{ earlier: [{ ...MINI, halvings: 1 }], refused: [MINI], bytes: LONG_HISTORY },
    then: [{ ...MINI, halvings: 2 }],
  },
  {
    name: "does not halve it without end",
    ...{ earlier: [{ ...MINI, halvings: 6 }], refused: [MINI], bytes: LONG_HISTORY },
    then: [{ ...MINI, halvings: 6 }],
  },
  {
    name: "keeps what is known of models that the team does not have now",
    ...{ earlier: [{ ...LOCAL, halvings: 2 }], refused: [MINI], bytes: LONG_HISTORY },
    then: [
      { ...MINI, halvings: 1 },
      { ...LOCAL, halvings: 2 },
    ],
  },
  {
    name: "learns nothing from a question that is longer than the history",
    ...{ earlier: [], refused: [MINI], bytes: { history: 2_000, question: 60_000 } },
    then: [],
  },
  {
    name: "learns nothing from a turn without a refused request",
    ...{ earlier: [{ ...MINI, halvings: 1 }], refused: [], bytes: LONG_HISTORY },
    then: [{ ...MINI, halvings: 1 }],
  },
];

describe("what a turn shows about windows", () => {
  it.each(rows)("$name", ({ then, name: _, ...shown }) =>
    expect(windowsAfter(shown)).toEqual(then),
  );

  it("remembers a bounded number of models, the latest first", () => {
    const earlier = Array.from({ length: 300 }, (_, index) => ({
      ...{ provider: "openai", model: `model-${index}`, halvings: 1 },
    }));
    const after = windowsAfter({ earlier, refused: [MINI], bytes: LONG_HISTORY });
    expect([after.length, halvingsOf(MINI, after)]).toEqual([128, 1]);
  });

  it("is about one model of one provider", () => {
    const windows = [{ ...MINI, halvings: 3 }];
    expect(halvingsOf({ provider: "azure", model: "mini" }, windows)).toBe(0);
  });
});
