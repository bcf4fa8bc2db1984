import { describe, expect, it } from "vitest";
import { checkPins, toolHash } from "../../../src/tools/mcp/pins";
import { pinsOf, toListing } from "../../../src/tools/mcp/tool-listing";
import { server } from "./support";

describe("pins", () => {
  const listed = (...tools: [string, string][]) => tools.map(([name, hash]) => ({ name, hash }));
  it.each([
    {
      name: "store the hash of a new tool",
      pins: {},
      listing: listed(["a", "1"]),
      same: ["a"],
      changed: [],
      gone: [],
      added: ["a"],
    },
    {
      name: "recognize an unchanged tool",
      pins: { a: "1" },
      listing: listed(["a", "1"]),
      same: ["a"],
      changed: [],
      gone: [],
      added: [],
    },
    {
      name: "detect a changed tool",
      pins: { a: "1" },
      listing: listed(["a", "2"]),
      same: [],
      changed: ["a"],
      gone: [],
      added: [],
    },
    {
      name: "detect a removed tool, and keep its pin",
      pins: { a: "1" },
      listing: [],
      same: [],
      changed: [],
      gone: ["a"],
      added: [],
    },
    {
      name: "accept any name",
      ...{ pins: {}, listing: listed(["__proto__", "1"], ["constructor", "2"]) },
      ...{
        same: ["__proto__", "constructor"],
        changed: [],
        gone: [],
        added: ["__proto__", "constructor"],
      },
    },
  ])("$name", ({ pins, listing, same, changed, gone, added }) => {
    const check = checkPins(pins, listing);
    expect(check.same.map(({ name }) => name)).toEqual(same);
    expect(check.changed.map(({ name }) => name)).toEqual(changed);
    expect(check.gone).toEqual(gone);
    expect(check.added).toEqual(added);
    for (const [name, hash] of Object.entries(pins)) expect(check.pins[name]).toBe(hash);
  });

  it("accept a changed tool that has its first definition again", () => {
    const first = checkPins({}, listed(["a", "1"]));
    const changedCheck = checkPins(first.pins, listed(["a", "2"]));
    expect(checkPins(changedCheck.pins, listed(["a", "1"])).same).toHaveLength(1);
  });

  it("include the name, description and schemas, but not the order of keys", async () => {
    const base = {
      name: "a",
      description: "d",
      inputSchema: { type: "object", properties: { x: { type: "string" } } },
    };
    const same = {
      inputSchema: { properties: { x: { type: "string" } }, type: "object" },
      description: "d",
      name: "a",
    };
    expect(await toolHash(same)).toBe(await toolHash(base));
    const changes = [
      { name: "b" },
      { description: "e" },
      { inputSchema: { type: "object" } },
      { outputSchema: {} },
      { title: "t" },
    ];
    const hashes = await Promise.all(
      [base, ...changes.map((other) => ({ ...base, ...other }))].map(toolHash),
    );
    expect(new Set(hashes).size).toBe(6);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("a listing in the log", () => {
  const box = server("https://box.example.com/mcp");
  const agents = new Map([["a", { servers: [box], allowedTools: null, excludeTools: [] }]]);
  const listing = (agent: string, tools: readonly (readonly [string, string])[]) => ({
    turn: 1,
    agent,
    server: "box",
    tools: tools.map(([tool, hash]) => ({
      name: `mcp__box__${tool}`,
      tool,
      hash,
      acts_outside: true,
      idempotent: false,
    })),
  });

  it.each([
    {
      name: "the first hash of each tool",
      listings: [
        listing("a", [["x", "1"]]),
        listing("a", [
          ["x", "2"],
          ["y", "3"],
        ]),
      ],
      pins: { x: "1", y: "3" },
    },
    {
      name: "nothing for another agent's server with the same name",
      listings: [listing("b", [["x", "1"]])],
      pins: undefined,
    },
    {
      name: "a tool with any name",
      listings: [listing("a", [["__proto__", "1"]])],
      pins: JSON.parse('{"__proto__": "1"}'),
    },
  ])("pins $name", ({ listings, pins }) => {
    expect(pinsOf(listings, () => agents).get("box https://box.example.com/mcp")).toEqual(pins);
  });

  it("pins nothing for another server of this name that the agent has in a turn of another team", () => {
    const other = server("https://other.example.com/mcp");
    const others = new Map([["a", { servers: [other], allowedTools: null, excludeTools: [] }]]);
    const listings = [listing("a", [["x", "1"]]), { ...listing("a", [["x", "2"]]), turn: 2 }];
    const pins = pinsOf(listings, (turn) => (turn === 1 ? agents : others));
    expect(pins.get("box https://box.example.com/mcp")).toEqual({ x: "1" });
    expect(pins.get("box https://other.example.com/mcp")).toEqual({ x: "2" });
  });

  it("names at most fifty refused tools, and contains the number of the others", () => {
    const refused = Array.from({ length: 60 }, (_, index) => ({
      server: "box",
      tool: `t${index}`,
      why: "it has no name",
      changed: false,
    }));
    const listing = toListing({
      server: "box",
      version: null,
      problem: null,
      tools: [],
      refused,
      more: 3,
    });
    expect([listing.refused.length, listing.more_refused]).toEqual([50, 13]);
  });
});
