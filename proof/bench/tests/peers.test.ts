import { describe, expect, it } from "vitest";
import { nothingAsked } from "../../../simulated/providers/model-input";
import { toSituation } from "../../../simulated/providers/situation";
import { spread } from "../arithmetic";
import {
  type Comparison,
  differentRuns,
  idealStages,
  judgeEfficiency,
  linesOf,
  runsOf,
  type Speed,
  SPEEDS,
  tableOf,
  timingOfCalls,
} from "../peers/comparison";
import { asServiceRequest } from "../peers/massgen-requests";

const runs = (efficiency: number, calls: number) =>
  runsOf([{ wallMs: 1_000, pathMs: 1_000 * efficiency, calls }]);

/** A comparison with these medians; all peers make exactly 2N + 1 calls. */
const comparisonOf = ({
  agents = 3,
  service = 0.98,
  langGraph = 0.98,
  calls = 2 * agents + 1,
  speed = "quick",
  massGen = null,
}: {
  agents?: number;
  service?: number;
  langGraph?: number;
  calls?: number;
  speed?: Speed["name"];
  massGen?: Comparison["massGen"];
}): Comparison => ({
  agents,
  speed,
  runs: {
    service: runs(service, calls),
    langGraph: runs(langGraph, 2 * agents + 1),
    bareInWorkerd: runs(0.99, 2 * agents + 1),
    bareInNode: runs(0.991, 2 * agents + 1),
  },
  massGen,
});

const speedNamed = (name: Speed["name"]): Speed => {
  const speed = SPEEDS.find((one) => one.name === name);
  if (!speed) throw new Error(`There is no speed ${name}.`);
  return speed;
};

describe("the aim of the comparison", () => {
  it.each([
    { agents: 3, service: 0.961, langGraph: 0.98, outcome: "met" },
    { agents: 3, service: 0.959, langGraph: 0.98, outcome: "missed" },
    { agents: 16, service: 0.946, langGraph: 0.965, outcome: "met" },
    { agents: 16, service: 0.944, langGraph: 0.965, outcome: "missed" },
    { agents: 32, service: 0.908, langGraph: 0.957, outcome: "met" },
    { agents: 50, service: 0.906, langGraph: 0.957, outcome: "missed" },
    { agents: 3, service: 0.99, langGraph: 0.9, outcome: "met" },
  ])("is $outcome by $agents quick agents with $service beside $langGraph", (medians) => {
    const judged = judgeEfficiency(comparisonOf(medians), speedNamed("quick"));
    const allowance = medians.agents <= 16 ? "0.02" : "0.05";
    expect(judged).toBe(`≥ LangGraph.js – ${allowance}: ${medians.outcome}`);
  });

  it.each([
    { service: 0.981, langGraph: 0.99, outcome: "met" },
    { service: 0.979, langGraph: 0.98, outcome: "missed" },
    { service: 0.98, langGraph: 0.999, outcome: "met" },
  ])("of slow models also needs 0.98: $service is $outcome", ({ outcome, ...medians }) => {
    const judged = judgeEfficiency(comparisonOf(medians), speedNamed("slow"));
    expect(judged).toBe(`≥ LangGraph.js – 0.02 and ≥ 0.98: ${outcome}`);
  });

  it("of slow models is missed if LangGraph.js is better by more than it allows", () => {
    const medians = { agents: 8, service: 0.981, langGraph: 1.002 };
    expect(judgeEfficiency(comparisonOf(medians), speedNamed("slow"))).toContain("missed");
  });
});

describe("runs of the comparison", () => {
  it("have the efficiency of each run, not of the sums", () => {
    const { efficiency, calls, wallMs } = runsOf([
      { wallMs: 100, pathMs: 90, calls: 7 },
      { wallMs: 1_000, pathMs: 500, calls: 9 },
      { wallMs: 200, pathMs: 160, calls: 7 },
    ]);
    expect(efficiency).toEqual(spread([0.9, 0.5, 0.8]));
    expect(calls).toMatchObject({ median: 7, max: 9 });
    expect(wallMs.median).toBe(200);
  });

  it("of a program last from its first request to its last response", () => {
    const timing = timingOfCalls([
      { stage: "first_answer", startedAt: 1_000, endedAt: 1_400 },
      { stage: "first_answer", startedAt: 1_010, endedAt: 1_420 },
      { stage: "presentation", startedAt: 1_500, endedAt: 1_900 },
    ]);
    expect(timing).toEqual({ wallMs: 900, pathMs: 810, calls: 3 });
  });

  it("count only if the peers made exactly 2N + 1 calls; the service may make more", () => {
    expect(differentRuns(comparisonOf({ agents: 3, calls: 9 }))).toEqual([]);
    const wrong = comparisonOf({ agents: 3 });
    wrong.runs.langGraph = runsOf([
      { wallMs: 1, pathMs: 1, calls: 7 },
      { wallMs: 1, pathMs: 1, calls: 8 },
    ]);
    expect(differentRuns(wrong)).toEqual([
      "langGraph made 8 (7 – 8) calls, not 7, with 3 agents (quick).",
    ]);
  });

  it("of the bare loop repeat one request per model and stage, in the order of the stages", () => {
    const request = (stage: string, model: string, nth: number) => ({
      stage,
      request: { model, body: { model, nth } },
    });
    const stages = idealStages([
      request("first_answer", "a", 1),
      request("first_answer", "b", 2),
      request("deciding", "b", 3),
      request("deciding", "b", 4),
      request("deciding", "a", 5),
      request("presentation", "a", 6),
    ]);
    expect(stages.map((stage) => stage.map(({ nth }) => nth))).toEqual([[1, 2], [3, 5], [6]]);
  });
});

describe("the texts of the comparison", () => {
  it("show every contestant and the calls", () => {
    const lines = linesOf(comparisonOf({ agents: 5, calls: 12 }), speedNamed("quick"));
    expect(lines).toHaveLength(2);
    expect(lines[0]?.figure).toBe(
      "5 agents, 200 ms to the first token, 40 tokens of 5 ms: critical path / wall",
    );
    expect(lines[0]?.bound).toMatch(/^bare loop: workerd 0.990 .*Node 0.991 .*LangGraph.js 0.980 /);
    expect(lines[1]).toMatchObject({
      measured: "12 (12 – 12)",
      bound: expect.stringMatching(/^11/),
    });
  });

  it("show MassGen with the whole command, or why it was not measured", () => {
    const played = { ...runs(0.81, 9), commandMs: spread([12_345]) };
    const [, , line] = linesOf(comparisonOf({ massGen: played }), speedNamed("quick"));
    expect(line?.measured).toContain("9 (9 – 9) calls; whole command 12345 (");
    const [, , reason] = linesOf(comparisonOf({ massGen: "not installed" }), speedNamed("quick"));
    expect(reason).toMatchObject({ measured: "not installed", runs: "0" });
  });

  it("are a row of the table for each comparison", () => {
    const played = { ...runs(0.81, 9), commandMs: spread([12_345]) };
    const { head, rows } = tableOf([
      comparisonOf({ massGen: played }),
      comparisonOf({ agents: 16, speed: "slow", service: 0.9, calls: 48, massGen: "no Python" }),
    ]);
    expect(rows.map((row) => row.length)).toEqual([head.length, head.length]);
    const models = "200 ms to the first token, 40 tokens of 5 ms";
    const aim = "≥ LangGraph.js – 0.02: met";
    expect(rows[0]).toEqual([
      models,
      "3",
      "0.990",
      "0.991",
      "0.980",
      "0.810, 9 calls",
      "0.980",
      "7 (7)",
      aim,
    ]);
    expect(rows[1]?.slice(4, 8)).toEqual(["0.980", "", "0.900", "48 (33)"]);
  });
});

describe("a request of MassGen", () => {
  const situationOf = (text: string, tools: string[]) =>
    toSituation({
      ...nothingAsked("bench-2"),
      messages: [{ role: "user", text }],
      tools: tools.map((name) => ({ name, parameters: {} })),
    });

  it.each([
    { text: "Why?", tools: ["vote", "new_answer"], stage: "first_answer" },
    { text: "bench-1 says: so", tools: ["vote", "new_answer"], stage: "first_answer" },
    {
      text: "bench-1 says: so. bench-2 says: no",
      tools: ["vote", "new_answer"],
      stage: "deciding",
    },
    { text: "bench-2 says: no", tools: ["new_answer"], stage: "presentation" },
    { text: "bench-2 says: no", tools: [], stage: "presentation" },
  ])("with $tools that reads $text is of the stage $stage", ({ text, tools, stage }) => {
    expect(asServiceRequest(situationOf(text, tools)).stage).toBe(stage);
  });
});
