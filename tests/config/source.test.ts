import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { CONTEXT, errorsOf, teamOf, yamlWith } from "./teams";
import { cpuMs } from "../fakes/cpu-time";

/** 308 bytes that would become 9^9 entries. */
const BOMB = [..."abcdefghi"]
  .map(
    (name, i, all) =>
      `${name}: &${name} [${Array(9)
        .fill(i === 0 ? "lol" : `*${all[i - 1]}`)
        .join(",")}]`,
  )
  .join("\n");
const nestedObject = (depth: number): unknown => (depth === 0 ? 1 : { a: nestedObject(depth - 1) });
const CYCLE: Record<string, unknown> = {};
CYCLE["agents"] = CYCLE;

describe("text that is refused before parsing", () => {
  it.each([
    ["broken syntax", "agents: [", "1:10 syntax "],
    ["a tab for indentation", "agents:\n\t- id: a", "2:1 syntax "],
    ["a key written twice", "agents: []\nagents: []", "2:1 syntax "],
    ["two documents", "agents: []\n---\nagents: []", "2:1 syntax "],
    ["a tag that makes code", "agents: !!js/function 'function () {}'", "1:9 syntax "],
    ["a tag that makes bytes", "agents: !!binary aGk=", "1:9 syntax "],
    ["a tag that makes an ordered map", "agents: !!omap []", "1:9 syntax "],
    ["an alias without its anchor", "agents: *a", "1:9 syntax "],
    ["an alias bomb", BOMB, "9:32 syntax "],
    ["4 kB of open brackets", "[".repeat(4096), "1:1 too_deep "],
    ["4 kB of list dashes", "- ".repeat(2048), "1:1 too_deep "],
    [
      "endless indentation",
      Array.from({ length: 400 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      "202:1 too_deep ",
    ],
    ["33 levels in few columns", `a: ${"[".repeat(32)}${"]".repeat(32)}`, "null:null too_deep "],
    ["more than 256 K characters", `# ${"x".repeat(256 * 1024)}`, "null:null too_large "],
    ["an object nested too deeply", nestedObject(33), "null:null too_deep "],
    ["an object nested without end", CYCLE, "null:null too_deep "],
  ])("%s", (_, source, error) => {
    expect(errorsOf(source)).toEqual([error]);
  });

  it("quickly, in any form", () => {
    const startedAt = cpuMs();
    for (const source of [
      BOMB,
      "[".repeat(200_000),
      "- ".repeat(100_000),
      "{a: ".repeat(60_000),
      "? ".repeat(100_000),
    ]) {
      expect(errorsOf(source)).toHaveLength(1);
    }
    expect(cpuMs() - startedAt).toBeLessThan(1000);
  });
});

it("many keys of one mapping are read as fast as the same keys of many mappings", () => {
  const keys = (from: number, count: number) =>
    Array.from({ length: count }, (_, nth) => `  k${from + nth}: 1`).join("\n");
  const timeOf = (source: string) => {
    const startedAt = cpuMs();
    expect(errorsOf(source)).not.toEqual([]);
    return cpuMs() - startedAt;
  };
  const many = Array.from({ length: 8 }, (_, nth) => `m${nth}:\n${keys(nth * 1000, 1000)}`).join(
    "\n",
  );
  const [spread, together] = [timeOf(many), timeOf(`m:\n${keys(0, 8_000)}`)];
  expect(together).toBeLessThan(4 * spread);
});

describe("text that is accepted", () => {
  it("brackets, dashes and deep indentation inside text", () => {
    const deep = " ".repeat(300);
    expect(
      errorsOf(yamlWith({ agent: `system_message: |\n  ${"[".repeat(100)}\n  ${deep}- - - -` })),
    ).toEqual([]);
    expect(errorsOf(yamlWith({ agent: `system_message: "${"{".repeat(100)}"` }))).toEqual([]);
  });

  it("a prototype: such a key is unknown and sets nothing", () => {
    for (const source of [
      `{"__proto__": {"admin": true}}`,
      JSON.parse(`{"__proto__": {"admin": true}}`),
      `constructor: {prototype: {admin: true}}`,
    ]) {
      expect(errorsOf(source)).toContainEqual(
        expect.stringMatching(/unknown_key \/(__proto__|constructor)/),
      );
    }
    expect("admin" in {}).toBe(false);
  });

  it.each([
    null,
    undefined,
    7,
    true,
    "\u0000",
    "---",
    "\ufeff",
    [],
    new Date(0),
    Symbol("x"),
    () => 1,
  ])("nothing throws: %s", (source) => {
    expect(parseTeam(source, CONTEXT).ok).toBe(false);
  });
});

it("text whose lines end with CR alone is read, with correct places", () => {
  const source = yamlWith({ agent: "system_message: |\n  one\n  two", backend: "strange: 1" });
  const errors = errorsOf(source);
  expect(errors).toEqual(["9:7 unknown_key /agents/0/backend/strange"]);
  expect([
    errorsOf(source.replaceAll("\n", "\r")),
    errorsOf(source.replaceAll("\n", "\r\n")),
  ]).toEqual([errors, errors]);
  expect(
    teamOf(yamlWith({ agent: "system_message: |\n  one\n  two" }).replaceAll("\n", "\r")),
  ).toEqual(teamOf(yamlWith({ agent: "system_message: |\n  one\n  two" })));
});

it("errors have the place of a value behind an alias, and of an empty value by its key", () => {
  const shared =
    "agents:\n  - id: a\n    backend: &b {type: strange, model: m}\n  - id: b\n    backend: *b";
  expect(errorsOf(shared)).toEqual([
    "3:24 out_of_range /agents/0/backend/type",
    "3:24 out_of_range /agents/1/backend/type",
  ]);
  expect(errorsOf("agents: [{id: a, backend: }]")).toEqual(["1:18 missing /agents/0/backend"]);
});
