import { describe, expect, it } from "vitest";
import { MAX_NAME_CHARS } from "../../../src/tools/mcp/server-limits";
import { fullName } from "../../../src/tools/mcp/names";
import { type HashedTool, hashed, judgeListing, offerTo } from "../../../src/tools/mcp/offer";
import type { McpServer, McpTools } from "../../../src/tools/mcp/server";
import { server } from "./support";

/** Full tool names, and the tools that a filter selects. */

const MARK = "_[0-9a-z]{25}";

// Names as they are offered.
const [OFFERED, OF_SHIP, SPLIT] = [
  await fullName("box", "a b"),
  await fullName("ship", "a b"),
  await fullName("a__b", "c"),
];

describe("a tool's full name", () => {
  it.each([
    {
      name: "is server and tool",
      of: ["weather", "get_forecast"],
      plain: "mcp__weather__get_forecast",
    },
    { name: "allows two underscores in a tool", of: ["a", "b__c"], plain: "mcp__a__b__c" },
    {
      name: "allows underscores at a tool's start",
      of: ["a", "__proto__"],
      plain: "mcp__a____proto__",
    },
    { name: "allows underscores at a server's start", of: ["_a", "b"], plain: "mcp___a__b" },
    { name: "allows capitals and dashes", of: ["My-Box", "Do-it"], plain: "mcp__My-Box__Do-it" },
    {
      name: "is as long as providers allow",
      of: ["a", "t".repeat(56)],
      plain: `mcp__a__${"t".repeat(56)}`,
    },
    {
      name: "treats a short suffix as a part of the tool",
      of: ["a", "b_0123abcd"],
      plain: "mcp__a__b_0123abcd",
    },
  ] as const)("$name: $plain", async ({ of: [box, tool], plain }) => {
    expect(await fullName(box, tool)).toBe(plain);
  });

  it.each([
    { name: "a space was replaced", of: ["box", "a b"], readable: "mcp__box__a_b" },
    { name: "other letters were replaced", of: ["box", "größe"], readable: "mcp__box__gr__e" },
    {
      name: "it is longer than providers allow",
      of: ["a", "t".repeat(57)],
      readable: `mcp__a__t{30}`,
    },
    { name: "its server alone is too long", of: ["s".repeat(100), "t"], readable: "mcp__s{33}" },
    { name: "the server has two underscores", of: ["a__b", "c"], readable: "mcp__a__b__c" },
    { name: "the server ends in an underscore", of: ["a_", "b"], readable: "mcp__a___b" },
    {
      name: "the tool's name looks like a suffix",
      of: ["box", `a_b_${"0".repeat(25)}`],
      readable: `mcp__box__a_b_0{24}`,
    },
  ] as const)("has a mark where $name", async ({ of: [box, tool], readable }) => {
    const name = await fullName(box, tool);
    expect(name).toMatch(new RegExp(`^${readable}`));
    expect(name).toMatch(new RegExp(`${MARK}$`));
    expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(name.length).toBeLessThanOrEqual(MAX_NAME_CHARS);
  });

  it("is stable: filters and logs contain it", () => {
    expect(OFFERED).toBe("mcp__box__a_b_53t1j8mogye8n71g7lh49oc2z");
  });

  it.each([
    {
      name: "two tools that differ in a replaced character",
      tools: [
        ["box", "a b"],
        ["box", "a.b"],
        ["box", "a_b"],
      ],
    },
    {
      name: "a tool with another's suffixed name",
      tools: [
        ["box", "a b"],
        ["box", OFFERED.slice("mcp__box__".length)],
      ],
    },
    {
      name: "a tool with another's suffixed name, over servers",
      tools: [
        ["a__b", "c"],
        ["a", SPLIT.slice("mcp__a__".length)],
      ],
    },
    {
      name: "tools whose servers split differently",
      tools: [
        ["a", "b__c"],
        ["a__b", "c"],
      ],
    },
    {
      name: "tools whose servers end differently",
      tools: [
        ["a", "_b"],
        ["a_", "b"],
      ],
    },
    {
      name: "tools that differ in the cut part",
      tools: [
        ["a", `${"t".repeat(80)}1`],
        ["a", `${"t".repeat(80)}2`],
      ],
    },
    {
      name: "servers that differ in the cut part",
      tools: [
        [`${"s".repeat(80)}1`, "t"],
        [`${"s".repeat(80)}2`, "t"],
      ],
    },
    {
      name: "a name that is cut to another's name",
      tools: [
        ["a", "t".repeat(57)],
        ["a", "t".repeat(56)],
        ["a", "t".repeat(30)],
      ],
    },
  ] as const)("tells apart $name", async ({ tools }) => {
    const names = await Promise.all(tools.map(([box, tool]) => fullName(box, tool)));
    expect(new Set(names).size).toBe(tools.length);
  });

  it("distinguishes all short tools of all short servers", async () => {
    const words = (most: number): string[] =>
      most === 0
        ? [""]
        : ["", ...words(most - 1).flatMap((rest) => ["a", "_", " "].map((one) => one + rest))];
    const distinct = (most: number) => [...new Set(words(most))].filter((word) => word !== "");
    const servers = distinct(4).filter((name) => !name.includes(" "));
    const names = await Promise.all(
      servers.flatMap((box) => distinct(4).map((tool) => fullName(box, tool))),
    );
    expect(names.length).toBeGreaterThan(3_000);
    expect(new Set(names).size).toBe(names.length);
  });
});

const listing = (box: string, names: readonly string[]): Promise<HashedTool[]> =>
  Promise.all(names.map((name) => hashed(box, { name, inputSchema: { type: "object" } })));

/** The tools that servers with these listings offer to an agent: the owner of each, by name. */
async function offered(
  listings: Record<string, string[]>,
  filters: Partial<McpTools> = {},
  ofServer: Partial<McpServer> = {},
) {
  const servers = Object.keys(listings).map((name) =>
    server(`https://${name.length}.example.com/mcp`, { name, ...ofServer }),
  );
  const all = await Promise.all(
    servers.map(
      async (one) =>
        [
          one.name,
          judgeListing(one, await listing(one.name, listings[one.name] ?? []), {}).offered,
        ] as const,
    ),
  );
  const { offered: tools } = offerTo(
    { servers, allowedTools: null, excludeTools: [], ...filters },
    new Map(all),
  );
  return new Map(
    tools.map(({ name, server: { name: box }, bareName }) => [name, `${box}: ${bareName}`]),
  );
}

describe("an offered name means the same tool", () => {
  it.each([
    {
      name: "when a tool with a colliding name is listed before it",
      before: { box: ["a_b"] },
      after: { box: ["a b", "a_b"] },
    },
    {
      name: "when it had a suffix itself",
      before: { box: ["a b"] },
      after: { box: ["a_b", "a.b", "a b"] },
    },
    {
      name: "when colliding tools change places",
      before: { box: ["a b", "a.b"] },
      after: { box: ["a.b", "a b"] },
    },
    {
      name: "when an earlier server lists a name that splits differently",
      before: { a: [], a__b: ["c"] },
      after: { a: ["b__c"], a__b: ["c"] },
    },
    {
      name: "when a later server lists a name that splits differently",
      before: { a__b: [], a: ["b__c"] },
      after: { a__b: ["c"], a: ["b__c"] },
    },
    {
      name: "when another tool has the offered name itself",
      before: { box: ["a b"] },
      after: { box: [OFFERED.slice("mcp__box__".length), "a b"] },
    },
    {
      name: "when a tool of the same length is listed before it",
      before: { box: [`${"t".repeat(90)}1`] },
      after: { box: [`${"t".repeat(90)}2`, `${"t".repeat(90)}1`] },
    },
    {
      name: "when it is gone, and a colliding tool exists",
      before: { box: ["a_b"] },
      after: { box: ["a b"] },
    },
    { name: "when it had a suffix and is gone", before: { box: ["a b"] }, after: { box: ["a_b"] } },
  ])("$name", async ({ before, after }) => {
    const [first, then] = [await offered(before), await offered(after)];
    expect(first.size).toBeGreaterThan(0);
    expect(then.size).toBe(Object.values<string[]>(after).flat().length);
    for (const [name, tool] of first) expect([undefined, tool]).toContain(then.get(name));
    const there = new Set(then.values());
    for (const [name, tool] of first) if (there.has(tool)) expect(then.get(name)).toBe(tool);
  });
});

describe("an entry of allowed_tools", () => {
  const both = { a: ["b__c", "x"], a__b: ["c", "x"] };
  it.each([
    {
      name: "selects the tool it names",
      of: { box: ["a_b", "a b"] },
      entry: "mcp__box__a_b",
      tools: ["box: a_b"],
    },
    {
      name: "selects a tool by its written name",
      of: { box: ["a_b", "a b"] },
      entry: "mcp__box__a b",
      tools: ["box: a b"],
    },
    {
      name: "selects a tool by its offered name",
      of: { box: ["a_b", "a b"] },
      entry: OFFERED,
      tools: ["box: a b"],
    },
    {
      name: "selects a long tool by its written name",
      of: { box: ["t".repeat(90)] },
      entry: `mcp__box__${"t".repeat(90)}`,
      tools: [`box: ${"t".repeat(90)}`],
    },
    {
      name: "selects no tool that only maps to its name",
      of: { box: ["a b", "a.b"] },
      entry: "mcp__box__a_b",
      tools: [],
    },
    {
      name: "selects no tool whose own name is another's offered name",
      of: { box: [OFFERED.slice("mcp__box__".length)] },
      entry: OFFERED,
      tools: [],
    },
    {
      name: "selects no tool whose bare name is the full name of another",
      of: { box: ["mcp__ship__pay"], ship: ["pay"] },
      entry: "mcp__ship__pay",
      tools: ["ship: pay"],
    },
    {
      name: "selects no tool whose bare name is the offered name of another",
      of: { box: [OF_SHIP] },
      entry: OF_SHIP,
      tools: [],
    },
    {
      name: "selects no tool that ends like a suffix, by its written name",
      of: { box: ["flow_cjld2cjxh0000qzrmn831i7rn"] },
      entry: "mcp__box__flow_cjld2cjxh0000qzrmn831i7rn",
      tools: [],
    },
    {
      name: "selects a tool that ends like a suffix by its bare name",
      of: { box: ["flow_cjld2cjxh0000qzrmn831i7rn"] },
      entry: "flow_cjld2cjxh0000qzrmn831i7rn",
      tools: ["box: flow_cjld2cjxh0000qzrmn831i7rn"],
    },
    {
      name: "selects nothing if two servers are possible",
      of: both,
      entry: "mcp__a__b__c",
      tools: [],
    },
    {
      name: "selects a tool of either server by its offered name",
      of: both,
      entry: SPLIT,
      tools: ["a__b: c"],
    },
    {
      name: "selects a tool if only one server is possible",
      of: { a__b: ["c", "x"] },
      entry: "mcp__a__b__c",
      tools: ["a__b: c"],
    },
    {
      name: "selects tools of all servers by a bare name",
      of: both,
      entry: "x",
      tools: ["a: x", "a__b: x"],
    },
  ])("$name", async ({ of, entry, tools }) => {
    expect([...(await offered(of, { allowedTools: [entry] })).values()]).toEqual(tools);
  });

  it("of a server's own list applies to that server", async () => {
    const own = { allowedTools: ["mcp__a__b__c"] };
    expect([...(await offered(both, {}, own)).values()]).toEqual(["a: b__c", "a__b: c"]);
  });
});

describe("an entry of exclude_tools", () => {
  it.each([
    {
      name: "refuses all that map to its name",
      of: { box: ["a_b", "a b", "c"] },
      entry: "mcp__box__a_b",
      left: ["box: c"],
    },
    {
      name: "excludes a tool by its offered name",
      of: { box: ["a_b", "a b"] },
      entry: OFFERED,
      left: ["box: a_b"],
    },
    {
      name: "excludes a tool by its written name",
      of: { box: ["a_b", "a b"] },
      entry: "mcp__box__a b",
      left: ["box: a_b"],
    },
    {
      name: "excludes the tools of both possible servers",
      of: { a: ["b__c", "x"], a__b: ["c"] },
      entry: "mcp__a__b__c",
      left: ["a: x"],
    },
    {
      name: "excludes a bare name that looks like a full name",
      of: { box: ["mcp__ship__pay", "x"] },
      entry: "mcp__ship__pay",
      left: ["box: x"],
    },
    {
      name: "excludes a long tool by its written name",
      of: { box: ["t".repeat(90), "x"] },
      entry: `mcp__box__${"t".repeat(90)}`,
      left: ["box: x"],
    },
  ])("$name", async ({ of, entry, left }) => {
    expect([...(await offered(of, { excludeTools: [entry] })).values()]).toEqual(left);
    expect([...(await offered(of, {}, { excludeTools: [entry] })).values()]).toEqual(left);
  });
});
