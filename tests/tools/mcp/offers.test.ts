import { describe, expect, it } from "vitest";
import { nameProblem } from "../../../src/tools/mcp/names";
import { WORKFLOW_TOOLS } from "../../../src/coordination/tool/offers";
import { type HashedTool, judgeListing, offerTo } from "../../../src/tools/mcp/offer";
import { server } from "./support";

describe("the tools that an agent is offered", () => {
  it.each([
    { name: "VOTE", problem: /coordination's own/ },
    { name: "ｖｏｔｅ", problem: /coordination's own/ },
    { name: "a\nb", problem: /cannot be seen/ },
    { name: "\ud800", problem: /cannot be seen/ },
    { name: "ok", problem: null },
  ])("a tool with the name $name has the problem $problem", ({ name, problem }) => {
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
    { name: "all tools without filters", allowed: null, exclude: [], offered: ["a", "b", "c"] },
    {
      name: "the tools that are allowed by bare name",
      allowed: ["a"],
      exclude: [],
      offered: ["a"],
    },
    {
      name: "the tools that are allowed by full name",
      allowed: ["mcp__box__b"],
      exclude: [],
      offered: ["b"],
    },
    {
      name: "all tools but the excluded ones",
      allowed: null,
      exclude: ["a", "mcp__box__c"],
      offered: ["b"],
    },
    {
      name: "no tool that is allowed and excluded",
      allowed: ["a", "b"],
      exclude: ["a"],
      offered: ["b"],
    },
    {
      name: "no tool whose name is only similar to an entry",
      allowed: ["A", "mcp__other__b", "a*"],
      exclude: [],
      offered: [],
    },
  ])("are $name, for the filters of a server and of an agent", ({ allowed, exclude, offered }) => {
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

  it("have definitions of limited size together", () => {
    const withLargeSchema = (name: string) => ({
      tool: { name, inputSchema: { type: "object" as const, description: "x".repeat(60_000) } },
      hash: name,
      name: `mcp__box__${name}`,
    });
    const { offered: all } = judgeListing(
      box,
      ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(withLargeSchema),
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
    const agentTools = { servers: [box, ship], allowedTools: null, excludeTools: [] };
    const toolNames = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
    const offersOf = (ofBox: HashedTool[], ofShip: HashedTool[], ownTools: number) =>
      offerTo(
        agentTools,
        new Map([
          ["box", judgeListing(box, ofBox, {}).offered],
          ["ship", judgeListing(ship, ofShip, {}).offered],
        ]),
        { ownTools },
      );
    const countByServer = ({ offered, refused }: ReturnType<typeof offerTo>) =>
      ["box", "ship"].map((name) => [
        offered.filter((one) => one.server.name === name).length,
        refused.filter((one) => one.server === name).length,
      ]);

    it.each([
      {
        name: "all tools of both servers if they are within the limit",
        sizes: [60, 60],
        ownTools: 3,
        counts: [
          [60, 0],
          [60, 0],
        ],
      },
      {
        name: "as many tools of the second server as the limit allows",
        sizes: [100, 60],
        ownTools: 0,
        counts: [
          [100, 0],
          [23, 37],
        ],
      },
      {
        name: "fewer tools if it has own tools",
        sizes: [100, 60],
        ownTools: 20,
        counts: [
          [100, 0],
          [3, 57],
        ],
      },
      {
        name: "no tools if its own tools reach the limit",
        sizes: [2, 2],
        ownTools: 200,
        counts: [
          [0, 2],
          [0, 2],
        ],
      },
    ])(
      "is offered $name; the other tools are refused with a reason",
      ({ sizes: [ofBox = 0, ofShip = 0], ownTools, counts }) => {
        const offers = offersOf(
          listing(...toolNames(ofBox)),
          listing(...toolNames(ofShip)),
          ownTools,
        );
        expect(countByServer(offers)).toEqual(counts);
        expect(offers.offered.length + ownTools + WORKFLOW_TOOLS.length).toBeLessThanOrEqual(
          Math.max(128, ownTools + WORKFLOW_TOOLS.length),
        );
        for (const { why } of offers.refused) expect(why).toContain("choose with allowed_tools");
      },
    );

    it("is offered tools with definitions of limited size of both servers together", () => {
      const withLargeSchema = (name: string) => ({
        tool: { name, inputSchema: { type: "object" as const, description: "x".repeat(60_000) } },
        hash: name,
        name: `mcp__box__${name}`,
      });
      const offers = offersOf(
        toolNames(5).map(withLargeSchema),
        [...toolNames(5).map(withLargeSchema), ...listing("small")],
        0,
      );
      expect(countByServer(offers)).toEqual([
        [5, 0],
        [4, 2],
      ]);
      expect(offers.offered.map(({ bareName }) => bareName)).toContain("small");
    });
  });

  it("do not include a tool whose schema is too large", () => {
    const tooLarge = {
      name: "a",
      inputSchema: { type: "object" as const, description: "x".repeat(70_000) },
    };
    expect(
      judgeListing(box, [{ tool: tooLarge, hash: "h", name: "mcp__box__a" }], {}).refused,
    ).toMatchObject([{ why: expect.stringContaining("its schema has") }]);
  });
});
