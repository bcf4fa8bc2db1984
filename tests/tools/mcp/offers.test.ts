import { describe, expect, it } from "vitest";
import { nameProblem } from "../../../src/tools/mcp/names";
import { WORKFLOW_TOOLS } from "../../../src/coordination/tool/offers";
import { type HashedTool, judgeListing, offerTo } from "../../../src/tools/mcp/offer";
import { server } from "./support";

describe("names and offers", () => {
  it.each([
    { name: "VOTE", problem: /coordination's own/ },
    { name: "ｖｏｔｅ", problem: /coordination's own/ },
    { name: "a\nb", problem: /cannot be seen/ },
    { name: "\ud800", problem: /cannot be seen/ },
    { name: "ok", problem: null },
  ])("$name has the problem $problem", ({ name, problem }) => {
    if (problem === null) expect(nameProblem(name)).toBeNull();
    else expect(nameProblem(name)).toMatch(problem);
  });

  const listing = (...names: string[]): HashedTool[] =>
    names.map((name) => ({
      tool: { name, inputSchema: { type: "object" } },
      hash: `${name}-hash`,
      name: `mcp__box__${name}`,
    }));
  const box = server("https://box.example.com/mcp");
  it.each([
    { name: "all", allowed: null, exclude: [], offered: ["a", "b", "c"] },
    { name: "those allowed by bare name", allowed: ["a"], exclude: [], offered: ["a"] },
    { name: "those allowed by full name", allowed: ["mcp__box__b"], exclude: [], offered: ["b"] },
    {
      name: "all but the excluded",
      allowed: null,
      exclude: ["a", "mcp__box__c"],
      offered: ["b"],
    },
    { name: "exclusion before allowance", allowed: ["a", "b"], exclude: ["a"], offered: ["b"] },
    {
      name: "nothing for similar names",
      allowed: ["A", "mcp__other__b", "a*"],
      exclude: [],
      offered: [],
    },
  ])("an agent is offered $name, at either level", ({ allowed, exclude, offered }) => {
    const { offered: all } = judgeListing(box, listing("a", "b", "c"), {});
    const filters = { allowedTools: allowed, excludeTools: exclude };
    const filtered = { ...box, ...filters };
    const byServer = offerTo(
      { servers: [filtered], allowedTools: null, excludeTools: [] },
      new Map([["box", all.map((tool) => ({ ...tool, server: filtered }))]]),
    );
    const byAgent = offerTo({ servers: [box], ...filters }, new Map([["box", all]]));
    expect(byServer.offered.map(({ bareName }) => bareName)).toEqual(offered);
    expect(byAgent.offered.map(({ bareName }) => bareName)).toEqual(offered);
  });

  it("an agent is offered no more than a model can read", () => {
    const wide = (name: string) => ({
      tool: { name, inputSchema: { type: "object" as const, description: "x".repeat(60_000) } },
      hash: name,
      name: `mcp__box__${name}`,
    });
    const { offered: all } = judgeListing(
      box,
      ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(wide),
      {},
    );
    const { offered, refused } = offerTo(
      { servers: [box], allowedTools: null, excludeTools: [] },
      new Map([["box", all]]),
    );
    expect(offered.map(({ bareName }) => bareName).join("")).toBe("abcdefgh");
    expect(refused).toMatchObject([
      { tool: "i" },
      { tool: "j", why: expect.stringContaining("choose with allowed_tools") },
    ]);
  });

  describe("an agent with several servers", () => {
    const ship = server("https://ship.example.com/mcp", { name: "ship" });
    const both = { servers: [box, ship], allowedTools: null, excludeTools: [] };
    const many = (count: number) => Array.from({ length: count }, (_, nth) => `t${nth}`);
    const offersOf = (ofBox: HashedTool[], ofShip: HashedTool[], own: number) =>
      offerTo(
        both,
        new Map([
          ["box", judgeListing(box, ofBox, {}).offered],
          ["ship", judgeListing(ship, ofShip, {}).offered],
        ]),
        { own },
      );
    const counted = ({ offered, refused }: ReturnType<typeof offerTo>) =>
      ["box", "ship"].map((name) => [
        offered.filter((one) => one.server.name === name).length,
        refused.filter((one) => one.server === name).length,
      ]);

    it.each([
      {
        name: "all tools of both if there is room",
        sizes: [60, 60],
        own: 3,
        counts: [
          [60, 0],
          [60, 0],
        ],
      },
      {
        name: "tools of the second in the room that the first leaves",
        sizes: [100, 60],
        own: 0,
        counts: [
          [100, 0],
          [23, 37],
        ],
      },
      {
        name: "tools in the room that its own tools leave",
        sizes: [100, 60],
        own: 20,
        counts: [
          [100, 0],
          [3, 57],
        ],
      },
      {
        name: "nothing if its own tools fill the room",
        sizes: [2, 2],
        own: 200,
        counts: [
          [0, 2],
          [0, 2],
        ],
      },
    ])(
      "is offered $name, and the rest is refused with a reason",
      ({ sizes: [ofBox = 0, ofShip = 0], own, counts }) => {
        const offers = offersOf(listing(...many(ofBox)), listing(...many(ofShip)), own);
        expect(counted(offers)).toEqual(counts);
        expect(offers.offered.length + own + WORKFLOW_TOOLS.length).toBeLessThanOrEqual(
          Math.max(128, own + WORKFLOW_TOOLS.length),
        );
        for (const { why } of offers.refused) expect(why).toContain("choose with allowed_tools");
      },
    );

    it("is offered no more of both together than a model can read", () => {
      const wide = (name: string) => ({
        tool: { name, inputSchema: { type: "object" as const, description: "x".repeat(60_000) } },
        hash: name,
        name: `mcp__box__${name}`,
      });
      const offers = offersOf(many(5).map(wide), [...many(5).map(wide), ...listing("small")], 0);
      expect(counted(offers)).toEqual([
        [5, 0],
        [4, 2],
      ]);
      expect(offers.offered.map(({ bareName }) => bareName)).toContain("small");
    });
  });

  it("a tool with too large a schema is refused", () => {
    const huge = {
      name: "a",
      inputSchema: { type: "object" as const, description: "x".repeat(70_000) },
    };
    expect(
      judgeListing(box, [{ tool: huge, hash: "h", name: "mcp__box__a" }], {}).refused,
    ).toMatchObject([{ why: expect.stringContaining("its schema has") }]);
  });
});
