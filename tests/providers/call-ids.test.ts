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
      name: "stay where they are unique",
      ids: ["functions.t:0", "b"],
      taken: ["c"],
      want: ["functions.t:0", "b"],
    },
    { name: "change where the round has used them", ids: ["a"], taken: ["a"], want: ["call00001"] },
    {
      name: "change where two calls share one",
      ids: ["a", "a"],
      taken: [],
      want: ["a", "call00001"],
    },
    {
      name: "are made where there are none",
      ids: ["", ""],
      taken: [],
      want: ["call00000", "call00001"],
    },
    {
      name: "change where they are too long",
      ids: ["i".repeat(129)],
      taken: [],
      want: ["call00000"],
    },
    {
      name: "change where they hold what cannot be printed",
      ids: ["a\u0001", "b c", "ä"],
      taken: [],
      want: ["call00000", "call00001", "call00002"],
    },
    {
      name: "pass over those that are taken",
      ids: ["", ""],
      taken: ["call00001"],
      want: ["call00002", "call00003"],
    },
  ])("$name", ({ ids, taken, want }) => {
    expect(idsOf(ids, taken)).toEqual(want);
  });

  it.each([
    { name: "its own", id: "functions.t:0", stays: true },
    { name: "none", id: "", stays: false },
    { name: "one that the round has used", id: "taken", stays: false },
    { name: "one that cannot be printed", id: "b c", stays: false },
    { name: "one that another call may be given", id: "call00001", stays: false },
  ])("stay while a call is incomplete or its end is unknown: $name (F3)", ({ id, stays }) => {
    expect(staysItsId(id, new Set(["taken"]))).toBe(stays);
  });

  it("leave all other items alone", () => {
    const items: ReplyItem[] = [
      { type: "text", text: "a" },
      { type: "reasoning", text: "b", opaque: { sig: 1 } },
    ];
    expect(uniqueCallIds(items, new Set())).toEqual(items);
  });

  it("of a conversation are those of all its replies", () => {
    const item = { type: "tool_call" as const, id: "a", name: "f", arguments: "{}" };
    const taken = takenCallIds([
      { role: "user", text: "x" },
      { role: "assistant", items: [item, { ...item, id: "b" }] },
    ]);
    expect(taken).toEqual(new Set(["a", "b"]));
  });
});
