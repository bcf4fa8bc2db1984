import { describe, expect, it } from "vitest";
import {
  badLimit,
  dayOf,
  deploymentQuota,
  judgeTurn,
  type Lease,
  parseLimit,
  type Quota,
  secondsToNextDay,
  UNLIMITED,
} from "../../src/tenancy/quota";

const NOW = Date.parse("2026-11-21T23:59:00Z");
const lease = (turn: number, reservedUsd = 0, endsAt = NOW + 1): Lease => ({
  session: "s",
  turn,
  reservedUsd,
  endsAt,
});
const request = (maxCostUsd: number | null = null, turn = 9) => ({
  session: "s",
  turn,
  maxCostUsd,
  unpriced: [],
  leastUsd: 0,
  endsAt: NOW + 60_000,
});
const turns = (concurrentTurns: number): Quota => ({ ...UNLIMITED, concurrentTurns });
const dailyLimit = (usdPerDay: number): Quota => ({ ...UNLIMITED, usdPerDay });

describe("a turn starts", () => {
  it.each([
    {
      name: "without limits, with its requested budget",
      quota: UNLIMITED,
      leases: [],
      spent: 900,
      budget: 5,
      granted: 5,
    },
    {
      name: "without limits and without a budget, with unlimited cost",
      quota: UNLIMITED,
      leases: [],
      spent: 900,
      budget: null,
      granted: null,
    },
    {
      name: "while fewer turns run than the limit",
      quota: turns(2),
      leases: [lease(1)],
      spent: 0,
      budget: null,
      granted: null,
    },
    {
      name: "while only leases that have ended remain",
      quota: turns(1),
      leases: [lease(1, 0, NOW)],
      spent: 0,
      budget: null,
      granted: null,
    },
    {
      name: "again if only its own lease exists",
      quota: turns(1),
      leases: [lease(9)],
      spent: 0,
      budget: null,
      granted: null,
    },
    {
      name: "with all that remains of the day",
      quota: dailyLimit(10),
      leases: [],
      spent: 4,
      budget: null,
      granted: 6,
    },
    {
      name: "with its budget if more remains of the day",
      quota: dailyLimit(10),
      leases: [],
      spent: 4,
      budget: 1,
      granted: 1,
    },
    {
      name: "with less than its budget if less remains of the day",
      quota: dailyLimit(10),
      leases: [lease(1, 3)],
      spent: 4,
      budget: 5,
      granted: 3,
    },
    {
      name: "again with the amount that it has already reserved",
      quota: dailyLimit(10),
      leases: [lease(9, 6)],
      spent: 4,
      budget: null,
      granted: 6,
    },
    {
      name: "if another reservation has ended",
      quota: dailyLimit(10),
      leases: [lease(1, 10, NOW)],
      spent: 0,
      budget: 2,
      granted: 2,
    },
    {
      name: "with a budget of zero although nothing remains",
      quota: dailyLimit(10),
      leases: [],
      spent: 11,
      budget: 0,
      granted: 0,
    },
  ])("$name", ({ quota, leases, spent, budget, granted }) => {
    const decision = judgeTurn(quota, { leases, spentUsd: spent }, request(budget), NOW);
    expect(decision).toMatchObject({
      ok: true,
      maxCostUsd: granted,
      lease: { session: "s", turn: 9, reservedUsd: granted ?? 0 },
    });
  });
});

describe("a turn is refused", () => {
  it.each([
    {
      name: "if as many turns run as the limit allows",
      quota: turns(1),
      leases: [lease(1)],
      spent: 0,
      code: "quota_exceeded",
    },
    {
      name: "if the daily budget is spent",
      quota: dailyLimit(10),
      leases: [],
      spent: 10,
      code: "spend_exceeded",
    },
    {
      name: "if running turns have reserved the rest of the daily budget",
      quota: dailyLimit(10),
      leases: [lease(1, 6)],
      spent: 4,
      code: "spend_exceeded",
    },
    {
      name: "if more than the daily budget was spent",
      quota: dailyLimit(10),
      leases: [],
      spent: 12,
      code: "spend_exceeded",
    },
  ])("$name", ({ quota, leases, spent, code }) => {
    expect(judgeTurn(quota, { leases, spentUsd: spent }, request(), NOW)).toMatchObject({
      ok: false,
      code,
    });
  });

  it.each([
    { name: "if it has no budget", budget: null, firstCallUsd: 0.02, result: "spend_exceeded" },
    {
      name: "if its budget exceeds this cent",
      budget: 1,
      firstCallUsd: 0.02,
      result: "spend_exceeded",
    },
    {
      name: "unless its own budget is smaller than this cent",
      budget: 0.005,
      firstCallUsd: 0.02,
      result: true,
    },
    {
      name: "unless a cent suffices for its first call",
      budget: null,
      firstCallUsd: 0.01,
      result: true,
    },
  ])(
    "with one cent of the day remaining and a more expensive first call, $name",
    ({ budget, firstCallUsd, result }) => {
      const decision = judgeTurn(
        dailyLimit(10),
        { leases: [], spentUsd: 9.99 },
        { ...request(budget), leastUsd: firstCallUsd - 1e-9 },
        NOW,
      );
      expect(decision.ok || decision.code).toBe(result);
    },
  );

  it("with a daily limit in dollars if its agents have no known price", () => {
    const unpriced = { ...request(), unpriced: ["a"] };
    expect(judgeTurn(dailyLimit(10), { leases: [], spentUsd: 0 }, unpriced, NOW)).toEqual({
      ok: false,
      code: "price_unknown",
      agents: ["a"],
      isDaily: true,
    });
    expect(judgeTurn(UNLIMITED, { leases: [], spentUsd: 0 }, unpriced, NOW)).toMatchObject({
      ok: true,
    });
  });
});

it("spent and reserved dollars never exceed the daily limit, for any starts and ends", () => {
  const quota = dailyLimit(10);
  let leases: Lease[] = [];
  let spentUsd = 0;
  for (let turn = 1; turn < 500; turn += 1) {
    const decision = judgeTurn(
      quota,
      { leases, spentUsd },
      request(turn % 3 === 0 ? null : (turn % 7) / 2, turn),
      NOW,
    );
    if (decision.ok) leases.push(decision.lease);
    const total = leases.reduce((sum, { reservedUsd }) => sum + reservedUsd, spentUsd);
    expect(total).toBeLessThanOrEqual(10 + 1e-9);
    const [ended] = turn % 2 === 0 ? leases : [];
    if (ended) spentUsd += ended.reservedUsd / 4;
    leases = leases.filter((other) => other !== ended);
  }
  expect(spentUsd).toBeGreaterThan(5);
});

it("counts days in UTC", () => {
  expect([dayOf(NOW), dayOf(NOW + 60_000)]).toEqual(["2026-11-21", "2026-11-22"]);
  expect([secondsToNextDay(NOW), secondsToNextDay(NOW + 60_000)]).toEqual([60, 86_400]);
});

it.each([
  [undefined, null],
  ["", null],
  ["0", null],
  ["20", 20],
  ["2.5", 2.5],
])("the text %j means the limit %s", (text, limit) => {
  expect(parseLimit(text)).toBe(limit);
});

it.each(["many", "-1", "Infinity"])("%s is not a limit", (text) => {
  expect(() => parseLimit(text)).toThrow("is not a valid limit");
});

it.each([
  { name: "no variable set", variables: {}, invalid: null },
  {
    name: "numbers",
    variables: { TENANT_CONCURRENT_TURNS: "20", TENANT_USD_PER_DAY: "0" },
    invalid: null,
  },
  {
    name: "a word",
    variables: { TENANT_CONCURRENT_TURNS: "many" },
    invalid: "TENANT_CONCURRENT_TURNS",
  },
  {
    name: "a sign",
    variables: { TENANT_CONCURRENT_TURNS: "20", TENANT_USD_PER_DAY: "$5" },
    invalid: "TENANT_USD_PER_DAY",
  },
])("with $name, the invalid variable is $invalid", ({ variables, invalid }) => {
  expect(badLimit(variables)).toBe(invalid);
});

describe("the deployment's variables (F2)", () => {
  it.each([
    {
      name: "limit a tenant with keys to 20 turns by default",
      isLocal: false,
      variables: {},
      turns: 20,
      usd: null,
    },
    {
      name: "do not limit local access by default",
      isLocal: true,
      variables: {},
      turns: null,
      usd: null,
    },
    {
      name: "limit local access if they are set",
      isLocal: true,
      variables: { turns: "1", usd: "0.00001" },
      turns: 1,
      usd: 0.00001,
    },
    {
      name: "limit a tenant with keys to their values",
      isLocal: false,
      variables: { turns: "3", usd: "5" },
      turns: 3,
      usd: 5,
    },
    {
      name: "limit nothing if they are 0",
      isLocal: false,
      variables: { turns: "0", usd: "0" },
      turns: null,
      usd: null,
    },
    {
      name: "have their default values if they are empty",
      isLocal: false,
      variables: { turns: " ", usd: "" },
      turns: 20,
      usd: null,
    },
  ])("$name", ({ isLocal, variables, turns, usd }) => {
    const {
      turns: TENANT_CONCURRENT_TURNS = "",
      usd: TENANT_USD_PER_DAY = "",
    }: { turns?: string; usd?: string } = variables;
    const quota = deploymentQuota({ TENANT_CONCURRENT_TURNS, TENANT_USD_PER_DAY }, isLocal);
    expect(quota).toEqual({ concurrentTurns: turns, usdPerDay: usd });
  });
});
