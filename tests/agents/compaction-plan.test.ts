import { describe, expect, it } from "vitest";
import { planCompaction, type ContextLimits } from "../../src/agents/compaction";
import type { CallRecord } from "../../src/agents/records";
import { note, reply, result, CONTEXT_LIMITS, start, words } from "./call-records";

type Plan = { keepFrom: number; keepsNotes: boolean } | null;
const planOf = (records: CallRecord[], limits: ContextLimits = CONTEXT_LIMITS): Plan => {
  const plan = planCompaction(records, limits);
  return plan && { keepFrom: plan.keepFrom, keepsNotes: plan.keepsNotes };
};

describe("a compaction", () => {
  it.each<{ name: string; records: CallRecord[]; plan: Plan }>([
    {
      name: "removes nothing if the conversation is already short",
      records: [start, reply("a"), note(words(100))],
      plan: null,
    },
    {
      name: "removes nothing before the first reply",
      records: [start, note("answers")],
      plan: null,
    },
    {
      name: "removes only the oldest part if that is enough",
      records: [start, reply("a"), result("a", 5_000), reply("b"), result("b", 1_000)],
      plan: { keepFrom: 3, keepsNotes: true },
    },
    {
      name: "removes as many parts as necessary",
      records: [
        start,
        reply("a"),
        result("a", 1_500),
        reply("b"),
        result("b", 1_500),
        reply("c"),
        result("c", 1_500),
      ],
      plan: { keepFrom: 5, keepsNotes: true },
    },
    {
      name: "removes a reply together with the results of all its calls",
      records: [
        start,
        reply("a", "b", "c"),
        result("a", 1_000),
        result("b", 1_000),
        result("c", 1_000),
        reply("d"),
        result("d", 1_500),
      ],
      plan: { keepFrom: 5, keepsNotes: true },
    },
    {
      name: "keeps answers that were shown in between",
      records: [
        start,
        reply("a"),
        result("a", 5_000),
        note(words(800)),
        reply("b"),
        result("b", 500),
      ],
      plan: { keepFrom: 4, keepsNotes: true },
    },
    {
      name: "removes these answers before it removes the recent part",
      records: [start, reply("a"), note(words(3_000)), reply("b"), result("b", 1_000)],
      plan: { keepFrom: 3, keepsNotes: false },
    },
    {
      name: "removes the recent part last",
      records: [start, reply("a"), result("a", 500), reply("b"), result("b", 9_000)],
      plan: { keepFrom: 5, keepsNotes: true },
    },
    {
      name: "removes everything after the start if nothing else is enough",
      records: [
        start,
        reply("a"),
        note(words(9_000)),
        { ...start, user: words(9_000) } as CallRecord,
      ],
      plan: { keepFrom: 4, keepsNotes: false },
    },
  ])("$name", ({ records, plan }) => expect(planOf(records)).toEqual(plan));

  it.each<{ name: string; records: CallRecord[]; plan: Plan; refused: Plan }>([
    {
      name: "removes nothing if this would free less than a tenth of the window",
      records: [start, reply("a"), result("a", 2_500), reply("b"), result("b", 100)],
      plan: null,
      refused: { keepFrom: 5, keepsNotes: false },
    },
    {
      name: "removes nothing if the start nearly fills the window and the rest is small",
      records: [
        { ...start, user: words(8_600) } as CallRecord,
        ...["a", "b", "c"].flatMap((id) => [reply(id), result(id, 850)]),
      ],
      plan: null,
      refused: { keepFrom: 7, keepsNotes: false },
    },
    {
      name: "removes more than necessary if a smaller cut would free too little",
      records: [
        start,
        reply("a"),
        result("a", 2_400),
        reply("b"),
        result("b", 1_000),
        reply("c"),
        result("c", 100),
      ],
      plan: { keepFrom: 5, keepsNotes: true },
      refused: { keepFrom: 7, keepsNotes: false },
    },
    {
      name: "removes only the oldest part if that is enough",
      records: [start, reply("a"), result("a", 5_000), reply("b"), result("b", 1_000)],
      plan: { keepFrom: 3, keepsNotes: true },
      refused: { keepFrom: 5, keepsNotes: true },
    },
  ])(
    "$name; after a refusal by the provider, it removes parts even if this frees few tokens",
    ({ records, plan, refused }) => {
      expect(planOf(records)).toEqual(plan);
      expect(planOf(records, { ...CONTEXT_LIMITS, refused: true })).toEqual(refused);
    },
  );

  it("removes more after a refusal by the provider than the listed window requires", () => {
    const records = [
      start,
      reply("a"),
      result("a", 4_000),
      reply("b"),
      result("b", 3_000),
      reply("c"),
      result("c", 100),
    ];
    const knownLimits = { contextWindow: 15_000, calibration: 1 };
    expect(planOf(records, knownLimits)).toEqual({ keepFrom: 3, keepsNotes: true });
    expect(planOf(records, { ...knownLimits, refused: true })).toEqual({
      keepFrom: 5,
      keepsNotes: true,
    });
  });

  it("removes more if the provider counts more tokens than we estimate", () => {
    const records = [
      start,
      reply("a"),
      result("a", 3_100),
      reply("b"),
      result("b", 700),
      reply("c"),
      result("c", 300),
    ];
    expect(planOf(records)).toEqual({ keepFrom: 3, keepsNotes: true });
    expect(planOf(records, { ...CONTEXT_LIMITS, calibration: 2 })).toEqual({
      keepFrom: 5,
      keepsNotes: true,
    });
  });

  it("returns the numbers of removed replies, calls, results and notes", () => {
    const records = [
      start,
      reply("a", "b"),
      result("a", 3_000),
      result("b", 3_000),
      note("n"),
      reply("c"),
      result("c", 10),
    ];
    const { dropped } = planCompaction(records, CONTEXT_LIMITS) ?? {};
    expect(dropped).toMatchObject({ replies: 1, tool_calls: 2, tool_results: 2, notes: 0 });
    expect(dropped?.tokens).toBeGreaterThan(3_900);
  });
});
