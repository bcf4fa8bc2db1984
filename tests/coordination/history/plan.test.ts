import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type HistoryFacts,
  lengthRefusal,
  planCompact,
  planHistory,
  transcriptBytes,
} from "../../../src/coordination";
import { maxSummaryBytes } from "../../../src/coordination/history/plan";
import { agentRules } from "../../builders/team-rules";

/** Windows in tokens. The history may fill 40 % of the smallest one, at 3 bytes per token. */
const team = (...windows: number[]) =>
  windows.map((context_window, index) =>
    agentRules(String.fromCharCode(97 + index), { context_window, max_output_tokens: 4_000 }),
  );

/** Turns with these numbers, each of `bytes`. */
const turns = (bytes: number, ...numbers: number[]) => numbers.map((turn) => ({ turn, bytes }));
const facts = (changes: Partial<HistoryFacts> = {}): HistoryFacts => ({
  summary: null,
  turns: [],
  requestBytes: [],
  attachedTokens: 0,
  ...changes,
});
/** The window of an agent's model is smaller than assumed. */
const halved = (halvings: number, agent: string) => {
  const { provider, model } = agentRules(agent);
  return [{ provider, model, halvings }];
};
const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

type Row = {
  name: string;
  windows?: number[];
  facts: HistoryFacts | null;
  plan: object | null;
};

describe("the plan for the history of a turn", () => {
  const rows: Row[] = [
    { name: "is nothing for a first turn", facts: null, plan: null },
    {
      name: "shows a short history in full",
      facts: facts({ turns: turns(10_000, 1, 2) }),
      plan: null,
    },
    {
      name: "shows a history in full that just fits 40 % of the smallest window",
      windows: [200_000, 100_000],
      facts: facts({ turns: turns(12_000, ...ten) }),
      plan: null,
    },
    {
      name: "summarises the older half once the history is longer",
      windows: [200_000, 100_000],
      facts: facts({ turns: turns(12_001, ...ten) }),
      plan: {
        bytes: 120_000,
        summary: null,
        summarises: { turns: [1, 2, 3, 4, 5, 6, 7, 8], agent: 0 },
      },
    },
    {
      name: "leaves out the numbers of turns that are not on the branch",
      windows: [100_000],
      facts: facts({ turns: turns(40_000, 2, 5, 6, 9) }),
      plan: { bytes: 120_000, summary: null, summarises: { turns: [2, 5, 6], agent: 0 } },
    },
    {
      name: "uses a stored summary with the turns after it",
      windows: [100_000],
      facts: facts({ summary: { turns: [1, 2, 3], bytes: 9_000 }, turns: turns(40_000, 4, 5) }),
      plan: { bytes: 120_000, summary: 3, summarises: null },
    },
    {
      name: "continues a stored summary when the turns after it are too long",
      windows: [100_000],
      facts: facts({ summary: { turns: [1, 2, 3], bytes: 9_000 }, turns: turns(40_000, 4, 5, 7) }),
      plan: { bytes: 120_000, summary: 3, summarises: { turns: [1, 2, 3, 4, 5], agent: 0 } },
    },
    {
      name: "keeps the latest turn in full if it fits beside the summary",
      windows: [100_000],
      facts: facts({ turns: turns(90_000, 1, 2) }),
      plan: { summarises: { turns: [1] } },
    },
    {
      name: "summarises even the latest turn if it does not fit",
      windows: [100_000],
      facts: facts({ turns: turns(110_000, 1, 2) }),
      plan: { summarises: { turns: [1, 2] } },
    },
    {
      name: "lets the first agent write whose window fits the texts",
      windows: [20_000, 30_000, 200_000],
      facts: facts({ turns: turns(40_000, 1, 2, 3) }),
      plan: { bytes: 24_000, summarises: { turns: [1, 2, 3], agent: 2 } },
    },
    {
      name: "lets the agent with the largest window write if none fits",
      windows: [20_000, 30_000, 25_000],
      facts: facts({ turns: turns(90_000, 1, 2) }),
      plan: { summarises: { turns: [1, 2], agent: 1 } },
    },
    {
      name: "only cuts if a stored summary is too long for a smaller team and nothing follows it",
      windows: [10_000],
      facts: facts({ summary: { turns: [1, 2], bytes: 24_000 }, turns: [] }),
      plan: { bytes: 12_000, summary: 2, summarises: null },
    },
    {
      name: "only cuts in windows that have no space for a summary",
      windows: [1_500],
      facts: facts({ turns: turns(3_000, 1, 2) }),
      plan: { bytes: 1_800, summary: null, summarises: null },
    },
    {
      name: "leaves room for a long question",
      windows: [100_000],
      facts: facts({ turns: turns(30_000, 1, 2, 3), requestBytes: [210_000] }),
      plan: { bytes: 78_000, summarises: { turns: [1, 2] } },
    },
    {
      name: "leaves room for attachments",
      windows: [100_000],
      facts: facts({ turns: turns(30_000, 1, 2, 3), attachedTokens: 70_000 }),
      plan: { bytes: 78_000 },
    },
    {
      name: "keeps a twentieth of the window for the history however long the question is",
      windows: [100_000],
      facts: facts({ turns: turns(30_000, 1, 2, 3), requestBytes: [390_000] }),
      plan: { bytes: 15_000 },
    },
    {
      name: "halves the space for a model whose window is smaller than assumed",
      windows: [100_000],
      facts: facts({ turns: turns(20_000, 1, 2, 3, 4), windows: halved(1, "a") }),
      plan: { bytes: 60_000, summarises: { turns: [1, 2, 3] }, windows: halved(1, "a") },
    },
    {
      name: "remembers that the window is smaller also if the history is short",
      windows: [100_000],
      facts: facts({ turns: turns(5_000, 1), windows: halved(2, "a") }),
      plan: { bytes: 30_000, summary: null, summarises: null, windows: halved(2, "a") },
    },
    {
      name: "keeps it in a turn without earlier turns, for the turns after it",
      windows: [100_000],
      facts: facts({ windows: halved(2, "a") }),
      plan: { bytes: 30_000, summary: null, summarises: null, windows: halved(2, "a") },
    },
    {
      name: "does not shorten the history because a model of another team has a smaller window",
      windows: [100_000],
      facts: facts({ turns: turns(20_000, 1, 2, 3, 4), windows: halved(3, "z") }),
      plan: { bytes: 120_000, summary: null, summarises: null },
    },
    {
      name: "halves only the space of the model itself, which may still be the larger one",
      windows: [20_000, 100_000],
      facts: facts({ turns: turns(20_000, 1), windows: halved(1, "b") }),
      plan: { bytes: 24_000, summary: null, summarises: null },
    },
    {
      name: "does not shorten the history for an agent that the question alone does not fit",
      windows: [10_000, 100_000],
      facts: facts({ turns: turns(30_000, 1, 2, 3), requestBytes: [60_000, 60_000] }),
      plan: null,
    },
  ];
  it.each(rows)("$name", ({ windows = [100_000], facts: given, plan }) => {
    const found = planHistory(team(...windows), given);
    if (plan === null) expect(found).toBeNull();
    else expect(found).toMatchObject(plan);
  });
});

describe("the plan of a turn that only summarises", () => {
  it("covers all turns, however short they are", () => {
    const given = facts({ summary: { turns: [1], bytes: 500 }, turns: turns(100, 2, 4) });
    expect(planCompact(team(100_000), given)).toMatchObject({
      summary: 1,
      summarises: { turns: [1, 2, 4], agent: 0 },
    });
  });

  it("is nothing if a summary covers all turns already", () => {
    const given = facts({ summary: { turns: [1, 2], bytes: 500 } });
    expect(planCompact(team(100_000), given)).toBeNull();
  });
});

describe("a question", () => {
  it.each([
    { name: "fits one of the windows", windows: [10_000, 100_000], bytes: 100_000, refused: null },
    {
      name: "is refused if it fits no window",
      windows: [10_000, 20_000],
      bytes: 100_000,
      refused: { code: "question_too_long", tokens: 25_000, window: 20_000 },
    },
  ])("$name", ({ windows, bytes, refused }) => {
    const request = { requestBytes: windows.map(() => bytes), attachedTokens: 0 };
    const found = lengthRefusal(team(...windows), request);
    if (refused) expect(found).toMatchObject(refused);
    else expect(found).toBeNull();
  });
});

const windowsAny = fc.array(fc.integer({ min: 1_000, max: 1_000_000 }), {
  minLength: 1,
  maxLength: 5,
});
const turnsAny = fc
  .array(fc.integer({ min: 400, max: 400_000 }), { minLength: 1, maxLength: 60 })
  .map((sizes) => sizes.map((bytes, index) => ({ turn: index + 1, bytes })));

describe("every plan", () => {
  it("fits after its summary, or leaves only texts to cut", () =>
    fc.assert(
      fc.property(windowsAny, turnsAny, (windows, all) => {
        const plan = planHistory(team(...windows), facts({ turns: all }));
        if (!plan?.summarises) return;
        const { turns: covered, agent } = plan.summarises;
        const rest = all.slice(covered.length).reduce((sum, { bytes }) => sum + bytes, 0);
        expect(rest + maxSummaryBytes(plan.bytes) + 640).toBeLessThanOrEqual(plan.bytes);
        const writer = team(...windows)[agent];
        expect(writer && transcriptBytes(writer)).toBeGreaterThan(0);
      }),
    ));

  it("never summarises a turn again that a stored summary covers", () =>
    fc.assert(
      fc.property(windowsAny, turnsAny, fc.nat(60), (windows, all, n) => {
        const covered = all.slice(0, n).map(({ turn }) => turn);
        const given = facts({
          summary: covered.length > 0 ? { turns: covered, bytes: 5_000 } : null,
          turns: all.slice(n),
        });
        const plan = planHistory(team(...windows), given);
        if (plan?.summarises) {
          expect(plan.summarises.turns.slice(0, covered.length)).toEqual(covered);
          expect(plan.summarises.turns.length).toBeGreaterThan(covered.length);
        }
      }),
    ));

  it("is the same for two branches that have not parted yet", () =>
    fc.assert(
      fc.property(windowsAny, turnsAny, (windows, all) => {
        const plan = planHistory(team(...windows), facts({ turns: all }));
        const again = planHistory(team(...windows), facts({ turns: structuredClone(all) }));
        expect(again).toEqual(plan);
      }),
    ));

  it("is rare: a conversation needs a summary only after several more turns", () => {
    const agents = team(128_000);
    let [summary, rest, summaries] = [
      null as HistoryFacts["summary"],
      [] as { turn: number; bytes: number }[],
      0,
    ];
    for (let turn = 1; turn <= 50; turn += 1) {
      const plan = planHistory(agents, facts({ summary, turns: rest }));
      if (plan?.summarises) {
        summaries += 1;
        const { turns: covered } = plan.summarises;
        summary = { turns: covered, bytes: 24_576 };
        rest = rest.filter((one) => !covered.includes(one.turn));
      }
      rest = [...rest, { turn, bytes: 20_000 }];
    }
    expect(summaries).toBeLessThanOrEqual(14);
  });
});
