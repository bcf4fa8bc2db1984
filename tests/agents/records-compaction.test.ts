import { describe, expect, it } from "vitest";
import { toMessages } from "../../src/agents/conversation";
import { type CallRecord, type RenderInput, renderRecords } from "../../src/agents/records";
import type { InputBody } from "../../src/coordination";
import { failure, fails, says } from "../coordination/builders";
import { World } from "../coordination/world";
import { nonceOf, teamOf } from "./team-run";

const SUMMARY: CallRecord = { kind: "summary", keepFrom: 2, keepsNotes: true, text: "all of it" };
const tooLong = failure({ class: "context_too_long", compactible: true });

/** The records that a running agent's conversation gains from an input about its call. */
function gainedBy(
  prepare: (world: World) => void,
  body: (call: string) => InputBody,
  changes: Partial<RenderInput>,
) {
  const world = new World({ agents: ["a"] });
  world.ask();
  prepare(world);
  const from = world.steps.length;
  world.give(body(world.callOf("a")));
  const nothing = {
    history: [],
    reply: null,
    toolResult: null,
    cut: null,
    summary: null,
    planned: [],
  };
  const records = renderRecords({
    steps: world.steps.slice(from),
    team: teamOf(["a"]),
    nonce: nonceOf,
    ...nothing,
    ...changes,
  });
  return records.map(({ record }) => record);
}
const works = (world: World) => void [world.does("a", says("hm")), world.starts("a")];
const sums = (world: World) => {
  works(world);
  world.does("a", fails({ class: "context_too_long", compactible: true }));
  world.give({
    type: "call_ready",
    effect: "call_1_1_1_1_2_2",
    inputTokens: 9,
    compactionTokens: 9,
  });
};
const DROPPED = { replies: 1, tool_calls: 0, tool_results: 0, notes: 0, tokens: 9 };
const replies = (dropped: typeof DROPPED | undefined) => (effect: string) => {
  const outcome = says("all of it", dropped && { dropped })({ id: "a", alias: (id) => id, nth: 1 });
  if (!outcome.what || !("reply" in outcome.what)) throw new Error("no reply");
  return { type: "call_replied" as const, effect, ...outcome.what };
};

describe("a conversation gains", () => {
  it("the text of a call that was too long, because it will be summarized", () => {
    const cut = { agent: 0, text: "I was about to" };
    const records = gainedBy(
      works,
      (effect) => ({ type: "call_failed", effect, failure: tooLong }),
      { cut },
    );
    expect(records).toEqual([{ kind: "cut", text: "I was about to" }]);
  });

  it.each([
    { name: "had written nothing", text: "", failed: tooLong },
    { name: "failed in another way", text: "I was", failed: failure() },
  ])("nothing from a call that $name", ({ text, failed }) => {
    const records = gainedBy(
      works,
      (effect) => ({ type: "call_failed", effect, failure: failed }),
      { cut: { agent: 0, text } },
    );
    expect(records).toEqual([]);
  });

  it("the summary instead of the reply that contained it", () => {
    expect(gainedBy(sums, replies(DROPPED), { summary: { agent: 0, record: SUMMARY } })).toEqual([
      SUMMARY,
    ]);
  });

  it("nothing from an empty summary", () => {
    // of the round that follows
    expect(gainedBy(sums, replies(undefined), {}).map(({ kind }) => kind)).toEqual(["start"]);
  });
});

it("the text of a call that was too long is not sent again unchanged", () => {
  const start: CallRecord = { kind: "start", system: "role", user: "THE TASK" };
  expect(toMessages([start, { kind: "cut", text: "I was about to" }]).messages).toEqual([
    { role: "user", text: "THE TASK" },
  ]);
});
