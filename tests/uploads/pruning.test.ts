import { describe, expect, it } from "vitest";
import type { PastVersion } from "../../src/uploads/context-index";
import { referrersOf } from "../../src/uploads/pruning";

/** The history of a context. `v2<v1`: v2 has the base v1. Parentheses: the version is retired. */
const historyOf = (...versions: string[]): PastVersion[] =>
  versions.map((text) => {
    const [id = "", builtOn] = text.replace(/[()]/g, "").split("<");
    return { id, builtOn: builtOn ?? null, isReadable: !text.startsWith("(") };
  });

describe("the version whose manifest decides which contents of a retired version are needed", () => {
  it.each([
    {
      name: "is the next readable version",
      rows: historyOf("(v1)", "v2<v1", "v3<v2"),
      retired: "v1",
      expected: ["v2"],
    },
    {
      name: "is not a version whose base is readable",
      rows: historyOf("(v1)", "v2<v1", "v3<v2", "v4<v3"),
      retired: "v1",
      expected: ["v2"],
    },
    {
      name: "is the next readable version after other retired versions",
      rows: historyOf("(v1)", "(v2<v1)", "v3<v2"),
      retired: "v1",
      expected: ["v3"],
    },
    {
      name: "is the first readable version of every branch",
      rows: historyOf("(v1)", "v2<v1", "v3<v1", "v4<v2", "(v5<v3)", "v6<v5"),
      retired: "v1",
      expected: ["v2", "v3"],
    },
    {
      name: "is also a readable version before the retired version",
      rows: historyOf("v1<v0", "(v2<v1)", "v3<v2", "v4<v3"),
      retired: "v2",
      expected: ["v1", "v3"],
    },
    {
      name: "is also a version with an unknown base",
      rows: historyOf("(v2<v1)", "v3<v2", "v9<v8"),
      retired: "v2",
      expected: ["v3", "v9"],
    },
    {
      name: "is found even if versions form a cycle",
      rows: historyOf("(v1<v2)", "(v2<v1)", "v3<v2"),
      retired: "v1",
      expected: ["v3"],
    },
  ])("$name", ({ rows, retired, expected }) => {
    expect(referrersOf(rows, retired)).toEqual(expected);
  });
});
