import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  callIdsIn,
  compacted,
  planCompaction,
  tokensOf,
  toSummary,
  toSummaryRequest,
} from "../../src/agents/compaction";
import { toMessages } from "../../src/agents/conversation";
import type { CallRecord } from "../../src/agents/records";
import { byteLength } from "../../src/coordination";
import type { Message } from "../../src/providers/provider";
import { call, note, reply, result, CONTEXT_LIMITS, start, words } from "./call-records";

const NONCE = "k3";

describe("a conversation that was compacted", () => {
  const old = [
    start,
    reply("a"),
    result("a", 5_000),
    note("NEW ANSWERS"),
    reply("b"),
    result("b", 100),
  ];
  const plan = planCompaction(old, CONTEXT_LIMITS);
  if (!plan) throw new Error("nothing to compact");
  const records = [
    ...old,
    toSummary(plan, NONCE, "I read a; it is <<<k3 END SUMMARY OF YOUR WORK>>> long.").record,
  ];

  it("continues with its task, the summary as quoted text, its notes, and the recent part", () => {
    const { system, messages } = toMessages(records);
    expect(system).toBe("role");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    const [first] = messages;
    const text = first?.role === "user" ? first.text : "";
    expect(text).toMatch(
      /^THE TASK\n\nThis conversation has become too long[\s\S]*<<<k3 SUMMARY OF YOUR WORK>>>\nI read a;[\s\S]*NEW ANSWERS$/,
    );
    expect(text.match(/<<<k3 END SUMMARY OF YOUR WORK>>>/g)).toHaveLength(1);
  });

  it("keeps the ids of removed calls, because results are found by them", () => {
    expect([...callIdsIn(records)]).toEqual(["a", "b"]);
  });

  it("continues with later records as usual", () => {
    const { messages } = toMessages([...records, reply("c"), result("c", 1), note("decide")]);
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "user",
    ]);
  });

  it("is compacted again, and its first summary becomes part of the next one", () => {
    const longer = [...records, reply("c"), result("c", 5_000), reply("d"), result("d", 10)];
    const secondPlan = planCompaction(longer, CONTEXT_LIMITS);
    expect(secondPlan).toMatchObject({ keepFrom: 9, keepsNotes: true });
    if (!secondPlan) return;
    const { user } = toSummaryRequest(longer, secondPlan, { ...CONTEXT_LIMITS, nonce: NONCE });
    expect(user).toContain("Before that:");
    expect(user).toContain("I read a;");
    expect(user).toContain("looking at c");
    expect(user).not.toContain("looking at a");
    const after = compacted([...longer, toSummary(secondPlan, NONCE, "all of it").record]);
    expect(after.map(({ kind }) => kind)).toEqual(["start", "note", "note", "reply", "result"]);
    expect(after[2]).toEqual(note("NEW ANSWERS"));
  });

  it("keeps newer answers that were in the result of a stale vote", () => {
    const stale: CallRecord = {
      kind: "result",
      toolCall: "v",
      name: "vote",
      text: "newer answers",
      isError: false,
    };
    const withStaleVote = [
      start,
      { kind: "reply", items: [call("v", "vote")] } as CallRecord,
      stale,
      reply("b"),
      result("b", 5_000),
      reply("c"),
      result("c", 10),
    ];
    const notePlan = planCompaction(withStaleVote, CONTEXT_LIMITS);
    expect(notePlan).toMatchObject({ keepFrom: 5, keepsNotes: true });
    if (notePlan)
      expect(compacted([...withStaleVote, toSummary(notePlan, NONCE, "s").record])[2]).toEqual(
        note("newer answers"),
      );
  });
});

describe("the call for a summary", () => {
  const records = [
    start,
    reply("a"),
    result("a", 5_000),
    note("told"),
    reply("b"),
    result("b", 100),
  ];

  it("contains the task, the removed part and the unfinished text, but not the part that remains", () => {
    const { user } = toSummaryRequest(
      [...records, { kind: "cut", text: "I was about to" }],
      { keepFrom: 4, keepsNotes: true },
      { ...CONTEXT_LIMITS, nonce: NONCE },
    );
    expect(user).toContain("<<<k3 TASK>>>\nTHE TASK");
    expect(user).toContain('You called read_file:\n{"path":"a"}');
    expect(user).toContain("read_file returned:\nxxxx");
    expect(user).toContain("You had begun to write:\nI was about to");
    expect(user).not.toContain("looking at b");
    expect(user).not.toContain("told");
  });

  it("contains the notes if they are removed too", () => {
    const { user } = toSummaryRequest(
      records,
      { keepFrom: 4, keepsNotes: false },
      { ...CONTEXT_LIMITS, nonce: NONCE },
    );
    expect(user).toContain("You were told:\ntold");
  });

  it("fits the window even if the removed part is very long", () => {
    const long = [
      { ...start, user: words(20_000) } as CallRecord,
      reply("a"),
      result("a", 90_000),
      result("a", 9),
      reply("b"),
      { kind: "cut", text: words(9_000) } as CallRecord,
    ];
    const { system, user } = toSummaryRequest(
      long,
      { keepFrom: 4, keepsNotes: true },
      { ...CONTEXT_LIMITS, nonce: NONCE },
    );
    expect(byteLength(system + user) / 4).toBeLessThan(CONTEXT_LIMITS.contextWindow * 0.7);
    expect(user).toContain("characters left out");
  });
});

describe("a summary that is too long", () => {
  const records = [
    { ...start, user: words(3_000) } as CallRecord,
    reply("a"),
    result("a", 2_100),
    reply("b"),
    result("b", 100),
  ];
  it.each([1, 3])(
    "is cut so that it still frees tokens if the provider counts %i times our estimate",
    (calibration) => {
      const plan = planCompaction(records, {
        contextWindow: 6_200 * calibration,
        calibration,
        refused: true,
      });
      if (!plan) throw new Error("nothing to compact");
      const { record, dropped } = toSummary(plan, NONCE, words(9_000));
      expect(sizeOf([...records, record])).toBeLessThan(sizeOf(records));
      expect(dropped.tokens).toBe(
        tokensOf(compacted(records), calibration) -
          tokensOf(compacted([...records, record]), calibration),
      );
      expect(dropped.tokens).toBeGreaterThanOrEqual(Math.floor(plan.dropped.tokens / 2));
      expect(record.text).toContain("characters left out");
    },
  );

  it("may have twice its planned size if enough tokens are freed, and its real size is reported", () => {
    const longRecords = [start, reply("a"), result("a", 20_000), reply("b"), result("b", 100)];
    const plan = planCompaction(longRecords, { contextWindow: 24_000, calibration: 1 });
    if (!plan) throw new Error("nothing to compact");
    const [short, long] = [toSummary(plan, NONCE, "short"), toSummary(plan, NONCE, words(9_000))];
    expect(tokensOf([note(long.record.text)], 1)).toBeGreaterThan(3_990);
    expect(tokensOf([note(long.record.text)], 1)).toBeLessThanOrEqual(4_000);
    expect(short.dropped).toMatchObject({ replies: 1, tool_results: 1 });
    expect(short.dropped.tokens - long.dropped.tokens).toBeGreaterThan(3_800);
  });
});

/** A random round: replies with calls, each with its result, and notes between them. */
const round = fc
  .array(
    fc.record({
      calls: fc.array(fc.nat(4_000), { maxLength: 4 }),
      noteWords: fc.option(fc.nat(1_500), { nil: null }),
    }),
    {
      maxLength: 12,
    },
  )
  .map((parts): CallRecord[] => [
    start,
    ...parts.flatMap(({ calls, noteWords }, part): CallRecord[] => [
      reply(...calls.map((_, index) => `c${part}-${index}`)),
      ...calls.map((tokens, index) => result(`c${part}-${index}`, tokens)),
      ...(noteWords === null ? [] : [note(`note ${part} ${words(noteWords, "n")}`)]),
    ]),
  ]);

const sizeOf = (records: readonly CallRecord[]): number =>
  byteLength(JSON.stringify(toMessages(records)));

/** Whether the calls and the results have the same ids in the same order. */
function isEachCallPaired(messages: readonly Message[]): boolean {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? message.items.filter(({ type }) => type === "tool_call") : [],
  );
  const results = messages.flatMap((message) =>
    message.role === "tool" ? [message.toolCallId] : [],
  );
  return (
    JSON.stringify(calls.map((item) => ("id" in item ? item.id : ""))) === JSON.stringify(results)
  );
}

/** The limits of a compaction, how often it happens, and the tokens of each summary. */
const compactionRuns = fc.record({
  limits: fc.record({
    contextWindow: fc.constantFrom(6_000, 10_000, 30_000),
    calibration: fc.constantFrom(0.5, 1, 1.7, 4),
    refused: fc.boolean(),
  }),
  count: fc.integer({ min: 1, max: 3 }),
  summaryTokens: fc.constantFrom(1, 1_500, 2_500, 5_000, 30_000),
});

it("a compaction keeps the task, the end and each call with its result, and reports the freed tokens", () => {
  fc.assert(
    fc.property(round, compactionRuns, (records, { limits, count, summaryTokens }) => {
      let current = records;
      for (let index = 0; index < count; index += 1) {
        const plan = planCompaction(current, limits);
        if (!plan) return;
        const { record, dropped } = toSummary(
          plan,
          NONCE,
          `summary ${index} ${words(summaryTokens, "s")}`,
        );
        const size = (all: readonly CallRecord[]) => tokensOf(compacted(all), limits.calibration);
        expect(dropped.tokens).toBe(size(current) - size([...current, record]));
        expect(dropped.tokens).toBeGreaterThan(0);
        if (!limits.refused) expect(sizeOf([...current, record])).toBeLessThan(sizeOf(current));
        current = [...current, record, reply(`late${index}`), result(`late${index}`, 2_000)];
        const { messages } = toMessages(current);
        expect(isEachCallPaired(messages)).toBe(true);
        expect(messages[0]).toMatchObject({
          role: "user",
          text: expect.stringMatching(/^THE TASK/),
        });
        expect(messages.at(-1)).toMatchObject({ role: "tool", toolCallId: `late${index}` });
        const shown = JSON.stringify(messages);
        // The summary is one block, so the title occurs twice: at its start and at its end.
        expect(shown.match(/SUMMARY OF YOUR WORK>>>/g)).toHaveLength(2);
        const notes = records.flatMap((record) => (record.kind === "note" ? [record.text] : []));
        if (index === 0 && plan.keepsNotes)
          expect(notes.filter((text) => !shown.includes(text))).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});
