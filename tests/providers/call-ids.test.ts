import { describe, expect, it } from "vitest";
import { staysItsId, takenCallIds, uniqueCallIds } from "../../src/providers/call-ids";
import type { ReplyItem } from "../../src/providers/provider";

describe("ids of calls", () => {
  const idsOf = (ids: string[], taken: string[] = []) =>
    uniqueCallIds(
      ids.map((id) => ({ type: "tool_call", id, name: "t", arguments: "{}" })),
      new Set(taken),
    ).map((item) => (item.type === "tool_call" ? item.id : ""));

  it.each([
    {
      name: "stay the same if they are unique",
      ids: ["functions.t:0", "b"],
      taken: ["c"],
      expected: ["functions.t:0", "b"],
    },
    {
      name: "change if the round has used them",
      ids: ["a"],
      taken: ["a"],
      expected: ["call00001"],
    },
    {
      name: "change if two calls have the same id",
      ids: ["a", "a"],
      taken: [],
      expected: ["a", "call00001"],
    },
    {
      name: "are made if they are missing",
      ids: ["", ""],
      taken: [],
      expected: ["call00000", "call00001"],
    },
    {
      name: "change if they are too long",
      ids: ["i".repeat(129)],
      taken: [],
      expected: ["call00000"],
    },
    {
      name: "change if they contain unprintable characters",
      ids: ["a\u0001", "b c", "ä"],
      taken: [],
      expected: ["call00000", "call00001", "call00002"],
    },
    {
      name: "skip ids that are in use",
      ids: ["", ""],
      taken: ["call00001"],
      expected: ["call00002", "call00003"],
    },
  ])("$name", ({ ids, taken, expected }) => {
    expect(idsOf(ids, taken)).toEqual(expected);
  });

  it.each([
    { name: "the provider's own", id: "functions.t:0", stays: true },
    { name: "a missing id", id: "", stays: false },
    { name: "an id that the round has used", id: "taken", stays: false },
    { name: "an unprintable id", id: "b c", stays: false },
    { name: "an id that another call may get", id: "call00001", stays: false },
  ])("stay while a call is incomplete or its end is unknown: $name (F3)", ({ id, stays }) => {
    expect(staysItsId(id, new Set(["taken"]))).toBe(stays);
  });

  it("leave all other items unchanged", () => {
    const items: ReplyItem[] = [
      { type: "text", text: "a" },
      { type: "reasoning", text: "b", opaque: { sig: 1 } },
    ];
    expect(uniqueCallIds(items, new Set())).toEqual(items);
  });

  it("of a conversation are the ids in all its replies", () => {
    const item = { type: "tool_call" as const, id: "a", name: "f", arguments: "{}" };
    const taken = takenCallIds([
      { role: "user", text: "x" },
      { role: "assistant", items: [item, { ...item, id: "b" }] },
    ]);
    expect(taken).toEqual(new Set(["a", "b"]));
  });
});
