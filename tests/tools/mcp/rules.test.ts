import { describe, expect, it } from "vitest";
import type { McpFailure } from "../../../src/tools/mcp/failures";
import { nameProblem } from "../../../src/tools/mcp/names";
import { WORKFLOW_TOOLS } from "../../../src/coordination/tool/offers";
import { type Hashed, judgeListing, offerTo } from "../../../src/tools/mcp/offer";
import { checkPins } from "../../../src/tools/mcp/pins";
import { nextTry } from "../../../src/tools/mcp/retry";
import { shown } from "../../../src/tools/mcp/shown-text";
import { pinsOf, toListing } from "../../../src/tools/mcp/tool-listing";
import { toolHash } from "../../../src/tools/mcp/tool-hash";
import { parseToolTrust, trustOf } from "../../../src/tools/mcp/trust";
import { server } from "./support";

describe("pins", () => {
  const listed = (...tools: [string, string][]) => tools.map(([name, hash]) => ({ name, hash }));
  it.each([
    {
      name: "pin what is new",
      pins: {},
      listing: listed(["a", "1"]),
      same: ["a"],
      changed: [],
      gone: [],
      added: ["a"],
    },
    {
      name: "know what is as it was",
      pins: { a: "1" },
      listing: listed(["a", "1"]),
      same: ["a"],
      changed: [],
      gone: [],
      added: [],
    },
    {
      name: "see what has changed",
      pins: { a: "1" },
      listing: listed(["a", "2"]),
      same: [],
      changed: ["a"],
      gone: [],
      added: [],
    },
    {
      name: "see what is gone, and keep its pin",
      pins: { a: "1" },
      listing: [],
      same: [],
      changed: [],
      gone: ["a"],
      added: [],
    },
    {
      name: "take any name for one",
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

  it("let a tool back that is again what it was", () => {
    const first = checkPins({}, listed(["a", "1"]));
    const swapped = checkPins(first.pins, listed(["a", "2"]));
    expect(checkPins(swapped.pins, listed(["a", "1"])).same).toHaveLength(1);
  });

  it("hold name, description and schemas, and not the order of keys", async () => {
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
    const others = [
      { name: "b" },
      { description: "e" },
      { inputSchema: { type: "object" } },
      { outputSchema: {} },
      { title: "t" },
    ];
    const hashes = await Promise.all(
      [base, ...others.map((other) => ({ ...base, ...other }))].map(toolHash),
    );
    expect(new Set(hashes).size).toBe(6);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("another try", () => {
  const failure = (more: Partial<McpFailure>): McpFailure => ({
    ...{ message: "", reached: false, transient: false, fault: false, forgotten: false },
    ...more,
  });
  it.each([
    {
      name: "never for a call that is not known to be safe",
      failure: failure({ transient: true }),
      nth: 1,
      safe: false,
      afterMs: null,
    },
    {
      name: "for a safe call after a pause",
      failure: failure({ transient: true, reached: true }),
      nth: 1,
      safe: true,
      afterMs: 500,
    },
    {
      name: "after a longer pause",
      failure: failure({ transient: true }),
      nth: 2,
      safe: true,
      afterMs: 1_000,
    },
    {
      name: "not a fourth time",
      failure: failure({ transient: true }),
      nth: 3,
      safe: true,
      afterMs: null,
    },
    {
      name: "not for what will fail again",
      failure: failure({ reached: true }),
      nth: 1,
      safe: true,
      afterMs: null,
    },
    {
      name: "at once where the session was forgotten",
      failure: failure({ forgotten: true, transient: true }),
      nth: 1,
      safe: false,
      afterMs: 0,
    },
    {
      name: "not when it is forgotten again",
      failure: failure({ forgotten: true, transient: true }),
      nth: 2,
      safe: true,
      afterMs: null,
    },
  ])("$name", ({ failure: what, nth, safe, afterMs }) => {
    expect(nextTry(what, nth, safe)?.afterMs ?? null).toBe(afterMs);
  });
});

describe("trust", () => {
  const { trust, problems } = parseToolTrust(
    "read_only https://box.example.com/mcp#look_*, idempotent https://box.example.com/mcp#put,, nonsense",
  );
  it.each([
    { name: "look_up", hints: { readOnlyHint: true }, readOnly: true, idempotent: true },
    { name: "look_up", hints: {}, readOnly: true, idempotent: false },
    { name: "put", hints: { idempotentHint: true }, readOnly: false, idempotent: true },
    { name: "put", hints: {}, readOnly: false, idempotent: false },
    {
      name: "pay",
      hints: { readOnlyHint: true, idempotentHint: true },
      readOnly: false,
      idempotent: false,
    },
  ])(
    "of $name with $hints: read-only $readOnly, idempotent $idempotent",
    ({ name, hints, readOnly, idempotent }) => {
      expect(trustOf(trust, "https://box.example.com/mcp", { name, hints })).toEqual({
        readOnly,
        idempotent,
      });
    },
  );

  it("is bound to the server's address, and says what it could not read", () => {
    expect(
      trustOf(trust, "https://evil.example.com/mcp", {
        name: "look_up",
        hints: { readOnlyHint: true },
      }).readOnly,
    ).toBe(false);
    expect(problems).toEqual([expect.stringContaining("`nonsense`")]);
  });
});

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

  const listing = (...names: string[]): Hashed[] =>
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
      name: "none of those excluded",
      allowed: null,
      exclude: ["a", "mcp__box__c"],
      offered: ["b"],
    },
    { name: "exclusion before allowance", allowed: ["a", "b"], exclude: ["a"], offered: ["b"] },
    {
      name: "nothing that is only like a name",
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

  it("an agent is offered no more than a model could read", () => {
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
    const offersOf = (ofBox: Hashed[], ofShip: Hashed[], own: number) =>
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
        name: "all of both where there is room",
        sizes: [60, 60],
        own: 3,
        counts: [
          [60, 0],
          [60, 0],
        ],
      },
      {
        name: "of the second what the first left",
        sizes: [100, 60],
        own: 0,
        counts: [
          [100, 0],
          [23, 37],
        ],
      },
      {
        name: "what its own tools left",
        sizes: [100, 60],
        own: 20,
        counts: [
          [100, 0],
          [3, 57],
        ],
      },
      {
        name: "nothing where its own tools are enough",
        sizes: [2, 2],
        own: 200,
        counts: [
          [0, 2],
          [0, 2],
        ],
      },
    ])(
      "is offered $name, and told of the rest",
      ({ sizes: [ofBox = 0, ofShip = 0], own, counts }) => {
        const offers = offersOf(listing(...many(ofBox)), listing(...many(ofShip)), own);
        expect(counted(offers)).toEqual(counts);
        expect(offers.offered.length + own + WORKFLOW_TOOLS.length).toBeLessThanOrEqual(
          Math.max(128, own + WORKFLOW_TOOLS.length),
        );
        for (const { why } of offers.refused) expect(why).toContain("choose with allowed_tools");
      },
    );

    it("reads no more of both together than a model could", () => {
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

  it("a schema that is too large keeps its tool out", () => {
    const huge = {
      name: "a",
      inputSchema: { type: "object" as const, description: "x".repeat(70_000) },
    };
    expect(
      judgeListing(box, [{ tool: huge, hash: "h", name: "mcp__box__a" }], {}).refused,
    ).toMatchObject([{ why: expect.stringContaining("its schema has") }]);
  });
});

describe("what the log says of a server", () => {
  const box = server("https://box.example.com/mcp");
  const agents = new Map([["a", { servers: [box], allowedTools: null, excludeTools: [] }]]);
  const told = (agent: string, tools: readonly (readonly [string, string])[]) => ({
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
        told("a", [["x", "1"]]),
        told("a", [
          ["x", "2"],
          ["y", "3"],
        ]),
      ],
      pins: { x: "1", y: "3" },
    },
    {
      name: "nothing of what others have under the same name",
      listings: [told("b", [["x", "1"]])],
      pins: undefined,
    },
    {
      name: "any name as a name",
      listings: [told("a", [["__proto__", "1"]])],
      pins: JSON.parse('{"__proto__": "1"}'),
    },
  ])("pins $name", ({ listings, pins }) => {
    expect(pinsOf(listings, agents).get("box https://box.example.com/mcp")).toEqual(pins);
  });

  it("names fifty tools that are not offered, and counts the rest", () => {
    const refused = Array.from({ length: 60 }, (_, nth) => ({
      server: "box",
      tool: `t${nth}`,
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

describe("results", () => {
  it("shows what cannot be seen, and leaves what can", () => {
    expect(shown("a\u200bb\u0000c\u2066d é 漢字 👩‍💻\n\tz")).toContain(
      "a\\u{200b}b\\u{0}c\\u{2066}d é 漢字",
    );
    expect(shown("x\ufe0fy\n\tz")).toBe("x\ufe0fy\n\tz");
  });
});
