import { describe, expect, it } from "vitest";
import { Continuity, callItem, type Item, joined } from "../../../simulated/providers/continuity";
import { resultProblem } from "../../../simulated/providers/refusals";

const text = (content: string): Item => ({ kind: "text", id: "", content });
const sealed = (id: string): Item => ({ kind: "reasoning", id, content: "hm" });
const read = callItem("call_1", "read", '{"path":"a"}');
const invalidCall = callItem("call_2", "read", '{"path":');
const callWithSameId = callItem("call_3", "read", '{"path":"c"}');
/** The reply that the provider has sent. */
const ORIGINAL = [sealed("seal"), text("Let me look."), read, invalidCall];

describe("when a client sends back a reply, the provider finds", () => {
  it.each<{ name: string; turn: readonly Item[]; mismatch: object | null }>([
    { name: "no error if the reply is unchanged", turn: ORIGINAL, mismatch: null },
    { name: "no error if the reply is empty", turn: [], mismatch: null },
    {
      name: "no error if a call had arguments that were not JSON",
      turn: ORIGINAL.with(3, callItem("call_2", "read", "{}")),
      mismatch: null,
    },
    {
      name: "that the reasoning is missing",
      turn: ORIGINAL.slice(1),
      mismatch: { kind: "missing", item: sealed("seal") },
    },
    {
      name: "that the reasoning has another seal",
      turn: ORIGINAL.with(0, sealed("other")),
      mismatch: { kind: "changed", item: sealed("seal") },
    },
    {
      name: "that the text is different",
      turn: ORIGINAL.with(1, text("Let me see.")),
      mismatch: { kind: "changed", item: text("Let me look.") },
    },
    {
      name: "that the arguments are different",
      turn: ORIGINAL.with(2, callItem("call_1", "read", '{"path":"b"}')),
      mismatch: { kind: "changed", item: read },
    },
    {
      name: "that a call is missing",
      turn: ORIGINAL.slice(0, 3),
      mismatch: { kind: "missing", item: invalidCall },
    },
    {
      name: "that a call was added",
      turn: [...ORIGINAL, callItem("call_9", "read", "{}")],
      mismatch: { kind: "added", item: { id: "call_9" } },
    },
    {
      name: "that the order is different",
      turn: [text("Let me look."), sealed("seal"), read, invalidCall],
      mismatch: { kind: "missing", item: sealed("seal") },
    },
    {
      name: "no error if two calls had the same id and the second has another id now",
      turn: [callWithSameId, { ...callWithSameId, id: "call_4" }],
      mismatch: null,
    },
    {
      name: "an error if two calls had the same id and the first has another id now",
      turn: [{ ...callWithSameId, id: "call_4" }, callWithSameId],
      mismatch: { kind: "changed", item: callWithSameId },
    },
    {
      name: "that the text was never sent",
      turn: [text("I said so.")],
      mismatch: { kind: "unknown" },
    },
  ])("$name", ({ turn, mismatch }) => {
    const memory = new Continuity();
    memory.keep(ORIGINAL);
    memory.keep([text("Only words.")]);
    memory.keep([callWithSameId, callWithSameId]);
    const found = memory.mismatch([[text("Only words.")], turn]);
    if (mismatch === null) expect(found).toBeNull();
    else expect(found).toMatchObject({ turn: 1, ...mismatch });
  });

  it("no difference between one text and the same text in parts, or with empty parts", () => {
    expect(joined([text("a"), text(""), text("b"), read, text("")])).toEqual([text("ab"), read]);
  });
});

describe("the tool results of a request", () => {
  it.each([
    {
      name: "are correct if each call has one result, in any order",
      calls: ["a", "b"],
      results: ["b", "a"],
      problem: null,
    },
    {
      name: "must contain a result for each call",
      calls: ["a", "b"],
      results: ["a"],
      problem: { kind: "missing", id: "b" },
    },
    {
      name: "must not contain two results for one call",
      calls: ["a"],
      results: ["a", "a"],
      problem: { kind: "duplicate", id: "a" },
    },
    {
      name: "may have the same id twice if two calls have that id",
      calls: ["a", "a"],
      results: ["a", "a"],
      problem: null,
    },
    {
      name: "must not contain a result without a call",
      calls: [],
      results: ["a"],
      problem: { kind: "unrequested", id: "a" },
    },
  ])("$name", ({ calls, results, problem }) => {
    expect(resultProblem(calls, results)).toEqual(problem);
  });
});
