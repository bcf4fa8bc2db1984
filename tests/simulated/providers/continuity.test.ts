import { describe, expect, it } from "vitest";
import { Continuity, callItem, type Item, joined } from "../../../simulated/providers/continuity";
import { resultProblem } from "../../../simulated/providers/refusals";

const text = (content: string): Item => ({ kind: "text", id: "", content });
const sealed = (id: string): Item => ({ kind: "reasoning", id, content: "hm" });
const read = callItem("call_1", "read", '{"path":"a"}');
const cut = callItem("call_2", "read", '{"path":');
const repeated = callItem("call_3", "read", '{"path":"c"}');
const GIVEN = [sealed("seal"), text("Let me look."), read, cut];

describe("the errors that a provider finds in its own turn are", () => {
  it.each<{ name: string; turn: readonly Item[]; wrong: object | null }>([
    { name: "none, if it is unchanged", turn: GIVEN, wrong: null },
    { name: "none, if it is empty", turn: [], wrong: null },
    {
      name: "none for a call with arguments that were not JSON",
      turn: GIVEN.with(3, callItem("call_2", "read", "{}")),
      wrong: null,
    },
    {
      name: "lost reasoning",
      turn: GIVEN.slice(1),
      wrong: { kind: "missing", item: sealed("seal") },
    },
    {
      name: "another seal",
      turn: GIVEN.with(0, sealed("other")),
      wrong: { kind: "changed", item: sealed("seal") },
    },
    {
      name: "another text",
      turn: GIVEN.with(1, text("Let me see.")),
      wrong: { kind: "changed", item: text("Let me look.") },
    },
    {
      name: "other arguments",
      turn: GIVEN.with(2, callItem("call_1", "read", '{"path":"b"}')),
      wrong: { kind: "changed", item: read },
    },
    { name: "a call lost", turn: GIVEN.slice(0, 3), wrong: { kind: "missing", item: cut } },
    {
      name: "an additional call",
      turn: [...GIVEN, callItem("call_9", "read", "{}")],
      wrong: { kind: "added", item: { id: "call_9" } },
    },
    {
      name: "another order",
      turn: [text("Let me look."), sealed("seal"), read, cut],
      wrong: { kind: "missing", item: sealed("seal") },
    },
    {
      name: "none for the second of two calls with one id, if its id changed",
      turn: [repeated, { ...repeated, id: "call_4" }],
      wrong: null,
    },
    {
      name: "the first of two calls with one id, if its id changed",
      turn: [{ ...repeated, id: "call_4" }, repeated],
      wrong: { kind: "changed", item: repeated },
    },
    { name: "an unknown text", turn: [text("I said so.")], wrong: { kind: "unknown" } },
  ])("$name", ({ turn, wrong }) => {
    const memory = new Continuity();
    memory.keep(GIVEN);
    memory.keep([text("Only words.")]);
    memory.keep([repeated, repeated]);
    const found = memory.mismatch([[text("Only words.")], turn]);
    if (wrong === null) expect(found).toBeNull();
    else expect(found).toMatchObject({ turn: 1, ...wrong });
  });

  it("treats divided text as one text, and an empty text as none", () => {
    expect(joined([text("a"), text(""), text("b"), read, text("")])).toEqual([text("ab"), read]);
  });
});

describe("results of calls", () => {
  it.each([
    {
      name: "are correct with one for each call, in any order",
      calls: ["a", "b"],
      results: ["b", "a"],
      problem: null,
    },
    {
      name: "must not be missing",
      calls: ["a", "b"],
      results: ["a"],
      problem: { kind: "missing", id: "b" },
    },
    {
      name: "must not be doubled",
      calls: ["a"],
      results: ["a", "a"],
      problem: { kind: "duplicate", id: "a" },
    },
    {
      name: "of two calls with one id may both have it",
      calls: ["a", "a"],
      results: ["a", "a"],
      problem: null,
    },
    { name: "must be asked for", calls: [], results: ["a"], problem: { kind: "unrequested", id: "a" } },
  ])("$name", ({ calls, results, problem }) => {
    expect(resultProblem(calls, results)).toEqual(problem);
  });
});
