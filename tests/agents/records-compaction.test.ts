import { describe, expect, it } from "vitest";
import { toMessages } from "../../src/agents/conversation";
import { type CallRecord, type RenderInput, renderRecords } from "../../src/agents/records";
import type { InputBody } from "../../src/coordination";
import { failure, fails, says } from "../coordination/builders";
import { World } from "../coordination/world";
import { agentNonce, teamOf } from "./team-run";

const SUMMARY: CallRecord = { kind: "summary", keepFrom: 2, keepsNotes: true, text: "all of it" };
const tooLong = failure({ class: "context_too_long", compactible: true });

/** The records that an input about the agent's call in flight adds to the conversation. */
function recordsOf(
  prepare: (world: World) => void,
  body: (call: string) => InputBody,
  changes: Partial<RenderInput>,
) {
  const world = new World({ agents: ["a"] });
  world.ask();
  prepare(world);
  const from = world.steps.length;
  world.give(body(world.callOf("a")));
  const noOutcomes = {
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
    nonce: agentNonce,
    ...noOutcomes,
    ...changes,
  });
  return records.map(({ record }) => record);
}
const repliesOnce = (world: World) => void [world.does("a", says("hm")), world.starts("a")];
const startsSummary = (world: World) => {
  repliesOnce(world);
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

describe("the records of a conversation", () => {
  it("get the text of a call that was too long, because it will be summarized", () => {
    const cut = { agent: 0, text: "I was about to" };
    const records = recordsOf(
      repliesOnce,
      (effect) => ({ type: "call_failed", effect, failure: tooLong }),
      { cut },
    );
    expect(records).toEqual([{ kind: "cut", text: "I was about to" }]);
  });

  it.each([
    { name: "wrote no text", text: "", failed: tooLong },
    { name: "failed in another way", text: "I was", failed: failure() },
  ])("get nothing from a call that $name", ({ text, failed }) => {
    const records = recordsOf(
      repliesOnce,
      (effect) => ({ type: "call_failed", effect, failure: failed }),
      { cut: { agent: 0, text } },
    );
    expect(records).toEqual([]);
  });

  it("get the summary instead of the reply that contains it", () => {
    expect(
      recordsOf(startsSummary, replies(DROPPED), { summary: { agent: 0, record: SUMMARY } }),
    ).toEqual([SUMMARY]);
  });

  it("get nothing from an empty summary", () => {
    // The `start` belongs to the next round.
    expect(recordsOf(startsSummary, replies(undefined), {}).map(({ kind }) => kind)).toEqual([
      "start",
    ]);
  });
});

it("the text of a call that was too long is not part of the next request", () => {
  const start: CallRecord = { kind: "start", system: "role", user: "THE TASK" };
  expect(toMessages([start, { kind: "cut", text: "I was about to" }]).messages).toEqual([
    { role: "user", text: "THE TASK" },
  ]);
});
