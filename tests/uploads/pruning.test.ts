import { describe, expect, it } from "vitest";
import type { PastVersion } from "../../src/uploads/context-index";
import { referrersOf } from "../../src/uploads/pruning";

/** `v2<v1`: v2 has the base v1; in brackets: retired. */
const past = (...versions: string[]): PastVersion[] =>
  versions.map((text) => {
    const [id = "", builtOn] = text.replace(/[()]/g, "").split("<");
    return { id, builtOn: builtOn ?? null, isReadable: !text.startsWith("(") };
  });

describe("the version that decides which contents of a retired version are needed", () => {
  it.each([
    {
      name: "is the next live version",
      rows: past("(v1)", "v2<v1", "v3<v2"),
      of: "v1",
      then: ["v2"],
    },
    {
      name: "is no version based on another live one",
      rows: past("(v1)", "v2<v1", "v3<v2", "v4<v3"),
      of: "v1",
      then: ["v2"],
    },
    {
      name: "is the next live version behind other retired ones",
      rows: past("(v1)", "(v2<v1)", "v3<v2"),
      of: "v1",
      then: ["v3"],
    },
    {
      name: "is the first live version of every branch",
      rows: past("(v1)", "v2<v1", "v3<v1", "v4<v2", "(v5<v3)", "v6<v5"),
      of: "v1",
      then: ["v2", "v3"],
    },
    {
      name: "may be in the middle",
      rows: past("v1<v0", "(v2<v1)", "v3<v2", "v4<v3"),
      of: "v2",
      then: ["v1", "v3"],
    },
    {
      name: "is also a version with an unknown base",
      rows: past("(v2<v1)", "v3<v2", "v9<v8"),
      of: "v2",
      then: ["v3", "v9"],
    },
    {
      name: "is found even if versions form a cycle",
      rows: past("(v1<v2)", "(v2<v1)", "v3<v2"),
      of: "v1",
      then: ["v3"],
    },
  ])("$name", ({ rows, of, then }) => {
    expect(referrersOf(rows, of)).toEqual(then);
  });
});
