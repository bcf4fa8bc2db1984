import { describe, expect, it } from "vitest";
import { planCompaction, type Room } from "../../src/agents/compaction";
import type { CallRecord } from "../../src/agents/records";
import { note, reply, result, ROOM, start, words } from "./call-records";

type Plan = { keepFrom: number; keepsNotes: boolean } | null;
const planOf = (records: CallRecord[], room: Room = ROOM): Plan => {
  const plan = planCompaction(records, room);
  return plan && { keepFrom: plan.keepFrom, keepsNotes: plan.keepsNotes };
};

describe("of a conversation that is too long", () => {
  it.each<{ name: string; records: CallRecord[]; plan: Plan }>([
    {
      name: "nothing goes where that would not help",
      records: [start, reply("a"), note(words(100))],
      plan: null,
    },
    {
      name: "nothing goes where nothing has been said",
      records: [start, note("answers")],
      plan: null,
    },
    {
      name: "the oldest stretch goes, if that is enough",
      records: [start, reply("a"), result("a", 5_000), reply("b"), result("b", 1_000)],
      plan: { keepFrom: 3, keepsNotes: true },
    },
    {
      name: "as many go as it takes",
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
      name: "a reply goes with the results of all its calls",
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
      name: "answers that were shown meanwhile stay",
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
      name: "they go before the recent part does",
      records: [start, reply("a"), note(words(3_000)), reply("b"), result("b", 1_000)],
      plan: { keepFrom: 3, keepsNotes: false },
    },
    {
      name: "the recent part goes last of all",
      records: [start, reply("a"), result("a", 500), reply("b"), result("b", 9_000)],
      plan: { keepFrom: 5, keepsNotes: true },
    },
    {
      name: "as much goes as can, where nothing is enough",
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
      name: "nothing goes where that would free a twentieth of the window",
      records: [start, reply("a"), result("a", 2_500), reply("b"), result("b", 100)],
      plan: null,
      refused: { keepFrom: 5, keepsNotes: false },
    },
    {
      name: "nothing goes where the start alone fills the window, and the rest is little",
      records: [
        { ...start, user: words(8_600) } as CallRecord,
        ...["a", "b", "c"].flatMap((id) => [reply(id), result(id, 850)]),
      ],
      plan: null,
      refused: { keepFrom: 7, keepsNotes: false },
    },
    {
      name: "more goes than it takes, where less would free too little",
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
      name: "what is enough goes",
      records: [start, reply("a"), result("a", 5_000), reply("b"), result("b", 1_000)],
      plan: { keepFrom: 3, keepsNotes: true },
      refused: { keepFrom: 5, keepsNotes: true },
    },
  ])(
    "$name, but what the model refused goes on, whatever that frees",
    ({ records, plan, refused }) => {
      expect(planOf(records)).toEqual(plan);
      expect(planOf(records, { ...ROOM, refused: true })).toEqual(refused);
    },
  );

  it("more goes where the model refused it than what is known of the model asks for", () => {
    const records = [
      start,
      reply("a"),
      result("a", 4_000),
      reply("b"),
      result("b", 3_000),
      reply("c"),
      result("c", 100),
    ];
    const known = { contextWindow: 15_000, calibration: 1 };
    expect(planOf(records, known)).toEqual({ keepFrom: 3, keepsNotes: true });
    expect(planOf(records, { ...known, refused: true })).toEqual({ keepFrom: 5, keepsNotes: true });
  });

  it("more goes where the provider counts more than we do", () => {
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
    expect(planOf(records, { ...ROOM, calibration: 2 })).toEqual({ keepFrom: 5, keepsNotes: true });
  });

  it("the log can tell what went", () => {
    const records = [
      start,
      reply("a", "b"),
      result("a", 3_000),
      result("b", 3_000),
      note("n"),
      reply("c"),
      result("c", 10),
    ];
    const { dropped } = planCompaction(records, ROOM) ?? {};
    expect(dropped).toMatchObject({ replies: 1, tool_calls: 2, tool_results: 2, notes: 0 });
    expect(dropped?.tokens).toBeGreaterThan(3_900);
  });
});
