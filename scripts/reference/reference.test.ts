import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { KEY_NAMES, OPERATOR_VARIABLES } from "../../src/providers/registry";
import { commentsOf } from "./comments";
import { fieldRows } from "./field-rows";
import { limitRow } from "./limits";
import { sentence, table } from "./markdown";
import { GENERATED } from "./pages";
import { PROVIDER_MEANINGS } from "./settings-table";

describe("the generated files", () => {
  it.each(GENERATED)("$file is up to date; if not: npm run docs", ({ file, make }) => {
    const isSame = readFileSync(file, "utf8") === make();
    expect(isSame, `${file} is out of date. Run \`npm run docs\`.`).toBe(true);
  });

  it("contain a meaning for every variable of a backend type", () => {
    expect(OPERATOR_VARIABLES.filter((name) => PROVIDER_MEANINGS[name] === undefined)).toEqual([]);
    const settings = readFileSync("docs/reference/settings.md", "utf8");
    for (const name of KEY_NAMES) expect(settings).toContain(`\`${name}\``);
  });
});

describe("comments of sources", () => {
  const SOURCE = `
/** Limits of a test. */

export const UNEXPLAINED = 1;
/** Most agents. */
export const AGENTS = 3;
export const LIMITS = {
  /**
   * How long a call may be silent;
   * in ms.
   */
  idleMs: 90_000,
  other: 1, /* no doc comment */
};`;

  it("are the meanings of limits, and a limit without a comment is an error", () => {
    const rowOf = (declaration: string | null, name: string, value: number) =>
      limitRow({ source: `${SOURCE}\n`, declaration, name, value });
    expect(rowOf(null, "AGENTS", 3)).toEqual(["`AGENTS`", "3", "Most agents."]);
    expect(rowOf("LIMITS", "idleMs", 90_000)[1]).toBe("90 s");
    expect(() => rowOf(null, "UNEXPLAINED", 1)).toThrow("UNEXPLAINED needs a doc comment");
    expect(() => rowOf("LIMITS", "AGENTS", 3)).toThrow("AGENTS needs a doc comment");
    expect(() => rowOf("LIMITS", "other", 1)).toThrow("other needs a doc comment");
  });

  it("are found by the name that follows them, and are joined to one line", () => {
    expect([...commentsOf(SOURCE)]).toEqual([
      ["AGENTS", "Most agents."],
      ["idleMs", "How long a call may be silent; in ms."],
    ]);
  });
});

it("the rows of fields include the fields of unnamed objects, lists, maps and variants", () => {
  const objectWith = (name: string) => ({ properties: { [name]: { type: "string" } } });
  const variant = (kind: string) => ({ properties: { kind: { const: kind }, x: {} } });
  const rows = fieldRows(
    {
      required: ["one"],
      properties: {
        one: objectWith("a"),
        list: { type: "array", items: objectWith("b") },
        map: { type: "object", additionalProperties: objectWith("c") },
        some: { oneOf: [variant("k"), { type: "null" }] },
        other: { $ref: "#/$defs/Other" },
      },
    },
    (name) => name,
  );
  expect(rows.map(([name]) => name)).toEqual([
    ...["`one`", "`one.a`, optional"],
    ...["`list`, optional", "`list[].b`, optional"],
    ...["`map`, optional", "`map.*.c`, optional"],
    "`some`, optional",
    ...["kind", "x"].map((name) => `\`some.${name}\`, optional, if \`kind\` is \`"k"\``),
    "`other`, optional",
  ]);
});

it("in a table, text never breaks a row, and an empty cell becomes a dash", () => {
  const rows = [
    ["x | y", "one\ntwo"],
    ["", "z"],
  ];
  expect(table(["a", "b"], rows)).toBe("| a | b |\n|---|---|\n| x \\| y | one two |\n| – | z |");
});

it.each([
  ["the text", "The text."],
  ["skills", "Skills."],
  ["sub-agents. Remove them", "Sub-agents. Remove them."],
  ["massgen-edge runs", "massgen-edge runs."],
  ["`code` first", "`code` first."],
  ["ends well.", "Ends well."],
  ["has a bracket (here)", "Has a bracket (here)."],
  ["", ""],
])("%j as a sentence is %j", (text, expected) => {
  expect(sentence(text)).toBe(expected);
});
