import { describe, expect, it } from "vitest";
import { MAX_NAME_CHARS } from "../../../src/tools/mcp/server-limits";
import { fullName } from "../../../src/tools/mcp/names";
import { type HashedTool, hashTool, judgeListing, offerTo } from "../../../src/tools/mcp/offer";
import type { McpServer, McpTools } from "../../../src/tools/mcp/server";
import { server } from "./support";

const HASH_SUFFIX = "_[0-9a-z]{25}";

// Full names that have a hash as their suffix.
const [HASHED_NAME, HASHED_SHIP, HASHED_SPLIT] = [
  await fullName("box", "a b"),
  await fullName("ship", "a b"),
  await fullName("a__b", "c"),
];

describe("a tool's full name", () => {
  it.each([
    {
      name: "consists of the server and the tool",
      of: ["weather", "get_forecast"],
      expectedName: "mcp__weather__get_forecast",
    },
    {
      name: "may contain two underscores in the tool's name",
      of: ["a", "b__c"],
      expectedName: "mcp__a__b__c",
    },
    {
      name: "may contain underscores at the start of the tool's name",
      of: ["a", "__proto__"],
      expectedName: "mcp__a____proto__",
    },
    {
      name: "may contain underscores at the start of the server's name",
      of: ["_a", "b"],
      expectedName: "mcp___a__b",
    },
    {
      name: "may contain capitals and dashes",
      of: ["My-Box", "Do-it"],
      expectedName: "mcp__My-Box__Do-it",
    },
    {
      name: "may be as long as providers allow",
      of: ["a", "t".repeat(56)],
      expectedName: `mcp__a__${"t".repeat(56)}`,
    },
    {
      name: "has no hash if the tool's name ends in few digits",
      of: ["a", "b_0123abcd"],
      expectedName: "mcp__a__b_0123abcd",
    },
  ] as const)("$name: $plain", async ({ of: [box, tool], expectedName }) => {
    expect(await fullName(box, tool)).toBe(expectedName);
  });

  it.each([
    { name: "a space is replaced", of: ["box", "a b"], prefix: "mcp__box__a_b" },
    { name: "other letters are replaced", of: ["box", "größe"], prefix: "mcp__box__gr__e" },
    {
      name: "it is longer than providers allow",
      of: ["a", "t".repeat(57)],
      prefix: `mcp__a__t{30}`,
    },
    {
      name: "the server's name alone is too long",
      of: ["s".repeat(100), "t"],
      prefix: "mcp__s{33}",
    },
    {
      name: "the server's name contains two underscores",
      of: ["a__b", "c"],
      prefix: "mcp__a__b__c",
    },
    { name: "the server's name ends in an underscore", of: ["a_", "b"], prefix: "mcp__a___b" },
    {
      name: "the tool's name ends like a hash",
      of: ["box", `a_b_${"0".repeat(25)}`],
      prefix: `mcp__box__a_b_0{24}`,
    },
  ] as const)("ends in a hash if $name", async ({ of: [box, tool], prefix }) => {
    const name = await fullName(box, tool);
    expect(name).toMatch(new RegExp(`^${prefix}`));
    expect(name).toMatch(new RegExp(`${HASH_SUFFIX}$`));
    expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(name.length).toBeLessThanOrEqual(MAX_NAME_CHARS);
  });

  it("does not change between versions, because filters and logs contain it", () => {
    expect(HASHED_NAME).toBe("mcp__box__a_b_53t1j8mogye8n71g7lh49oc2z");
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
      name: "a tool whose own name is the full name of another",
      tools: [
        ["box", "a b"],
        ["box", HASHED_NAME.slice("mcp__box__".length)],
      ],
    },
    {
      name: "a tool whose own name is the full name of another server's tool",
      tools: [
        ["a__b", "c"],
        ["a", HASHED_SPLIT.slice("mcp__a__".length)],
      ],
    },
    {
      name: "tools of two servers with the same joined name",
      tools: [
        ["a", "b__c"],
        ["a__b", "c"],
      ],
    },
    {
      name: "tools of two servers that differ in an underscore at the end",
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
  ] as const)("is different for $name", async ({ tools }) => {
    const names = await Promise.all(tools.map(([box, tool]) => fullName(box, tool)));
    expect(new Set(names).size).toBe(tools.length);
  });

  it("is different for all tools with short names of all servers with short names", async () => {
    const words = (length: number): string[] =>
      length === 0
        ? [""]
        : ["", ...words(length - 1).flatMap((rest) => ["a", "_", " "].map((one) => one + rest))];
    const distinct = (length: number) => [...new Set(words(length))].filter((word) => word !== "");
    const servers = distinct(4).filter((name) => !name.includes(" "));
    const names = await Promise.all(
      servers.flatMap((box) => distinct(4).map((tool) => fullName(box, tool))),
    );
    expect(names.length).toBeGreaterThan(3_000);
    expect(new Set(names).size).toBe(names.length);
  });
});

const listing = (box: string, names: readonly string[]): Promise<HashedTool[]> =>
  Promise.all(names.map((name) => hashTool(box, { name, inputSchema: { type: "object" } })));

/** The tools that are offered to an agent: server and bare name of each tool, by its full name. */
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
      name: "when it has a hash, and colliding tools are listed before it",
      before: { box: ["a b"] },
      after: { box: ["a_b", "a.b", "a b"] },
    },
    {
      name: "when colliding tools are listed in another order",
      before: { box: ["a b", "a.b"] },
      after: { box: ["a.b", "a b"] },
    },
    {
      name: "when an earlier server lists a tool with the same joined name",
      before: { a: [], a__b: ["c"] },
      after: { a: ["b__c"], a__b: ["c"] },
    },
    {
      name: "when a later server lists a tool with the same joined name",
      before: { a__b: [], a: ["b__c"] },
      after: { a__b: ["c"], a: ["b__c"] },
    },
    {
      name: "when the own name of another tool is the offered name",
      before: { box: ["a b"] },
      after: { box: [HASHED_NAME.slice("mcp__box__".length), "a b"] },
    },
    {
      name: "when a tool with the same beginning is listed before it",
      before: { box: [`${"t".repeat(90)}1`] },
      after: { box: [`${"t".repeat(90)}2`, `${"t".repeat(90)}1`] },
    },
    {
      name: "when it is no longer listed, and a colliding tool is",
      before: { box: ["a_b"] },
      after: { box: ["a b"] },
    },
    {
      name: "when it has a hash and is no longer listed",
      before: { box: ["a b"] },
      after: { box: ["a_b"] },
    },
  ])("$name", async ({ before, after }) => {
    const [earlier, later] = [await offered(before), await offered(after)];
    expect(earlier.size).toBeGreaterThan(0);
    expect(later.size).toBe(Object.values<string[]>(after).flat().length);
    for (const [name, tool] of earlier) expect([undefined, tool]).toContain(later.get(name));
    const laterTools = new Set(later.values());
    for (const [name, tool] of earlier)
      if (laterTools.has(tool)) expect(later.get(name)).toBe(tool);
  });
});

describe("an entry of allowed_tools", () => {
  const both = { a: ["b__c", "x"], a__b: ["c", "x"] };
  it.each([
    {
      name: "selects the tool with this full name",
      of: { box: ["a_b", "a b"] },
      entry: "mcp__box__a_b",
      tools: ["box: a_b"],
    },
    {
      name: "selects a tool by its name before characters are replaced",
      of: { box: ["a_b", "a b"] },
      entry: "mcp__box__a b",
      tools: ["box: a b"],
    },
    {
      name: "selects a tool by its full name with a hash",
      of: { box: ["a_b", "a b"] },
      entry: HASHED_NAME,
      tools: ["box: a b"],
    },
    {
      name: "selects a tool by its name before it is cut",
      of: { box: ["t".repeat(90)] },
      entry: `mcp__box__${"t".repeat(90)}`,
      tools: [`box: ${"t".repeat(90)}`],
    },
    {
      name: "selects no tool with another name that maps to the entry",
      of: { box: ["a b", "a.b"] },
      entry: "mcp__box__a_b",
      tools: [],
    },
    {
      name: "selects no tool by its bare name if that is another's full name with a hash",
      of: { box: [HASHED_NAME.slice("mcp__box__".length)] },
      entry: HASHED_NAME,
      tools: [],
    },
    {
      name: "selects only by full name if the entry is also a bare name",
      of: { box: ["mcp__ship__pay"], ship: ["pay"] },
      entry: "mcp__ship__pay",
      tools: ["ship: pay"],
    },
    {
      name: "selects no tool by its bare name if that is the full name of a missing tool",
      of: { box: [HASHED_SHIP] },
      entry: HASHED_SHIP,
      tools: [],
    },
    {
      name: "selects no tool by a full name that ends like a hash but has no hash",
      of: { box: ["flow_cjld2cjxh0000qzrmn831i7rn"] },
      entry: "mcp__box__flow_cjld2cjxh0000qzrmn831i7rn",
      tools: [],
    },
    {
      name: "selects a tool that ends like a hash by its bare name",
      of: { box: ["flow_cjld2cjxh0000qzrmn831i7rn"] },
      entry: "flow_cjld2cjxh0000qzrmn831i7rn",
      tools: ["box: flow_cjld2cjxh0000qzrmn831i7rn"],
    },
    {
      name: "selects nothing if the entry can mean tools of two servers",
      of: both,
      entry: "mcp__a__b__c",
      tools: [],
    },
    {
      name: "selects a tool of one of these servers by its full name with a hash",
      of: both,
      entry: HASHED_SPLIT,
      tools: ["a__b: c"],
    },
    {
      name: "selects a tool if the entry can mean only this tool",
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

  it("in the list of one server applies only to tools of that server", async () => {
    const serverFilters = { allowedTools: ["mcp__a__b__c"] };
    expect([...(await offered(both, {}, serverFilters)).values()]).toEqual(["a: b__c", "a__b: c"]);
  });
});

describe("an entry of exclude_tools", () => {
  it.each([
    {
      name: "excludes all tools that map to the entry",
      of: { box: ["a_b", "a b", "c"] },
      entry: "mcp__box__a_b",
      remaining: ["box: c"],
    },
    {
      name: "excludes a tool by its full name with a hash",
      of: { box: ["a_b", "a b"] },
      entry: HASHED_NAME,
      remaining: ["box: a_b"],
    },
    {
      name: "excludes a tool by its name before characters are replaced",
      of: { box: ["a_b", "a b"] },
      entry: "mcp__box__a b",
      remaining: ["box: a_b"],
    },
    {
      name: "excludes the tools of both servers that the entry can mean",
      of: { a: ["b__c", "x"], a__b: ["c"] },
      entry: "mcp__a__b__c",
      remaining: ["a: x"],
    },
    {
      name: "excludes a bare name that looks like a full name",
      of: { box: ["mcp__ship__pay", "x"] },
      entry: "mcp__ship__pay",
      remaining: ["box: x"],
    },
    {
      name: "excludes a tool by its name before it is cut",
      of: { box: ["t".repeat(90), "x"] },
      entry: `mcp__box__${"t".repeat(90)}`,
      remaining: ["box: x"],
    },
  ])("$name", async ({ of, entry, remaining }) => {
    expect([...(await offered(of, { excludeTools: [entry] })).values()]).toEqual(remaining);
    expect([...(await offered(of, {}, { excludeTools: [entry] })).values()]).toEqual(remaining);
  });
});
