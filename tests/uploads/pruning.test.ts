import { describe, expect, it } from "vitest";
import type { PastVersion } from "../../src/uploads/context-index";
import { witnessesOf } from "../../src/uploads/pruning";

/** `v2<v1` was built on v1; in brackets: retired. */
const past = (...versions: string[]): PastVersion[] =>
  versions.map((text) => {
    const [id = "", builtOn] = text.replace(/[()]/g, "").split("<");
    return { id, builtOn: builtOn ?? null, stands: !text.startsWith("(") };
  });

describe("who says what of a retired version's contents is still needed", () => {
  it.each([
    {
      name: "is the next live version",
      rows: past("(v1)", "v2<v1", "v3<v2"),
      of: "v1",
      then: ["v2"],
    },
    {
      name: "is no version that was built on another live one",
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
      name: "is also a version built on an unknown one",
      rows: past("(v2<v1)", "v3<v2", "v9<v8"),
      of: "v2",
      then: ["v3", "v9"],
    },
    {
      name: "comes to an end where versions go in a circle",
      rows: past("(v1<v2)", "(v2<v1)", "v3<v2"),
      of: "v1",
      then: ["v3"],
    },
  ])("$name", ({ rows, of, then }) => {
    expect(witnessesOf(rows, of)).toEqual(then);
  });
});
