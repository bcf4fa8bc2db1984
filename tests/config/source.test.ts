import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { CONTEXT, errorsOf, teamOf, yamlWith } from "./teams";
import { cpuMs } from "../fakes/cpu-time";

/** A config of 308 bytes whose aliases would expand to 9^9 entries. */
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

describe("a config is refused for", () => {
  it.each([
    ["broken syntax", "agents: [", "1:10 syntax "],
    ["a tab for indentation", "agents:\n\t- id: a", "2:1 syntax "],
    ["a repeated key", "agents: []\nagents: []", "2:1 syntax "],
    ["two documents", "agents: []\n---\nagents: []", "2:1 syntax "],
    ["a tag for JavaScript code", "agents: !!js/function 'function () {}'", "1:9 syntax "],
    ["a tag for binary data", "agents: !!binary aGk=", "1:9 syntax "],
    ["a tag for an ordered map", "agents: !!omap []", "1:9 syntax "],
    ["an alias without its anchor", "agents: *a", "1:9 syntax "],
    ["an alias bomb", BOMB, "9:32 syntax "],
    ["4 kB of open brackets", "[".repeat(4096), "1:1 too_deep "],
    ["4 kB of list dashes", "- ".repeat(2048), "1:1 too_deep "],
    [
      "400 levels of indentation",
      Array.from({ length: 400 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      "202:1 too_deep ",
    ],
    [
      "33 levels of nesting on one line",
      `a: ${"[".repeat(32)}${"]".repeat(32)}`,
      "null:null too_deep ",
    ],
    ["more than 256 K characters", `# ${"x".repeat(256 * 1024)}`, "null:null too_large "],
    ["an object nested too deeply", nestedObject(33), "null:null too_deep "],
    ["an object that contains itself", CYCLE, "null:null too_deep "],
  ])("%s", (_, source, error) => {
    expect(errorsOf(source)).toEqual([error]);
  });

  it("any form of deep nesting, quickly", () => {
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

it("many keys in one mapping are read about as fast as the same keys in several mappings", () => {
  const keys = (from: number, count: number) =>
    Array.from({ length: count }, (_, nth) => `  k${from + nth}: 1`).join("\n");
  const timeOf = (source: string) => {
    const startedAt = cpuMs();
    expect(errorsOf(source)).not.toEqual([]);
    return cpuMs() - startedAt;
  };
  const severalMappings = Array.from(
    { length: 8 },
    (_, nth) => `m${nth}:\n${keys(nth * 1000, 1000)}`,
  ).join("\n");
  const [severalMs, singleMs] = [timeOf(severalMappings), timeOf(`m:\n${keys(0, 8_000)}`)];
  expect(singleMs).toBeLessThan(4 * severalMs);
});

describe("the reader accepts", () => {
  it("brackets, dashes and deep indentation inside text", () => {
    const deep = " ".repeat(300);
    expect(
      errorsOf(yamlWith({ agent: `system_message: |\n  ${"[".repeat(100)}\n  ${deep}- - - -` })),
    ).toEqual([]);
    expect(errorsOf(yamlWith({ agent: `system_message: "${"{".repeat(100)}"` }))).toEqual([]);
  });

  it("a key such as __proto__, which is unknown and changes no prototype", () => {
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
  ])("any value, without a throw: %s", (source) => {
    expect(parseTeam(source, CONTEXT).ok).toBe(false);
  });
});

it("text whose lines end with a CR is read, and errors have the correct lines", () => {
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

it("an error behind an alias has the position of the anchor, and an error of an empty value the position of its key", () => {
  const shared =
    "agents:\n  - id: a\n    backend: &b {type: strange, model: m}\n  - id: b\n    backend: *b";
  expect(errorsOf(shared)).toEqual([
    "3:24 out_of_range /agents/0/backend/type",
    "3:24 out_of_range /agents/1/backend/type",
  ]);
  expect(errorsOf("agents: [{id: a, backend: }]")).toEqual(["1:18 missing /agents/0/backend"]);
});
