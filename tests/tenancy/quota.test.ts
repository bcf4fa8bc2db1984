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
const dollars = (usdPerDay: number): Quota => ({ ...UNLIMITED, usdPerDay });

describe("a turn starts", () => {
  it.each([
    {
      name: "without limits, with its requested budget",
      quota: UNLIMITED,
      leases: [],
      spent: 900,
      asks: 5,
      gets: 5,
    },
    {
      name: "without limits and budget, without a cap",
      quota: UNLIMITED,
      leases: [],
      spent: 900,
      asks: null,
      gets: null,
    },
    {
      name: "beside fewer turns than the limit",
      quota: turns(2),
      leases: [lease(1)],
      spent: 0,
      asks: null,
      gets: null,
    },
    {
      name: "beside turns whose leases have ended",
      quota: turns(1),
      leases: [lease(1, 0, NOW)],
      spent: 0,
      asks: null,
      gets: null,
    },
    {
      name: "again, if its lease is the only one",
      quota: turns(1),
      leases: [lease(9)],
      spent: 0,
      asks: null,
      gets: null,
    },
    {
      name: "with the whole rest of the day",
      quota: dollars(10),
      leases: [],
      spent: 4,
      asks: null,
      gets: 6,
    },
    {
      name: "with its budget, if that is less",
      quota: dollars(10),
      leases: [],
      spent: 4,
      asks: 1,
      gets: 1,
    },
    {
      name: "with less than its budget, if less is left",
      quota: dollars(10),
      leases: [lease(1, 3)],
      spent: 4,
      asks: 5,
      gets: 3,
    },
    {
      name: "again, with its own reservation",
      quota: dollars(10),
      leases: [lease(9, 6)],
      spent: 4,
      asks: null,
      gets: 6,
    },
    {
      name: "beside a reservation that has ended",
      quota: dollars(10),
      leases: [lease(1, 10, NOW)],
      spent: 0,
      asks: 2,
      gets: 2,
    },
    {
      name: "with a budget of zero, though nothing is left",
      quota: dollars(10),
      leases: [],
      spent: 11,
      asks: 0,
      gets: 0,
    },
  ])("$name", ({ quota, leases, spent, asks, gets }) => {
    const decision = judgeTurn(quota, { leases, spentUsd: spent }, request(asks), NOW);
    expect(decision).toMatchObject({
      ok: true,
      maxCostUsd: gets,
      lease: { session: "s", turn: 9, reservedUsd: gets ?? 0 },
    });
  });
});

describe("a turn is refused", () => {
  it.each([
    {
      name: "beside as many turns as the limit",
      quota: turns(1),
      leases: [lease(1)],
      spent: 0,
      code: "quota_exceeded",
    },
    {
      name: "when the daily budget is spent",
      quota: dollars(10),
      leases: [],
      spent: 10,
      code: "spend_exceeded",
    },
    {
      name: "when running turns have reserved it",
      quota: dollars(10),
      leases: [lease(1, 6)],
      spent: 4,
      code: "spend_exceeded",
    },
    {
      name: "when more than the limit was spent",
      quota: dollars(10),
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
    { name: "and it has no budget", asks: null, least: 0.02, then: "spend_exceeded" },
    { name: "and its budget exceeds the rest", asks: 1, least: 0.02, then: "spend_exceeded" },
    { name: "but not when its own budget is as small", asks: 0.005, least: 0.02, then: true },
    { name: "but not when the rest is enough", asks: null, least: 0.01, then: true },
  ])(
    "when a cent is left of the day and its first call costs more, $name",
    ({ asks, least, then }) => {
      const decision = judgeTurn(
        dollars(10),
        { leases: [], spentUsd: 9.99 },
        { ...request(asks), leastUsd: least - 1e-9 },
        NOW,
      );
      expect(decision.ok || decision.code).toBe(then);
    },
  );

  it("when money is capped and its agents have no known price", () => {
    const unpriced = { ...request(), unpriced: ["a"] };
    expect(judgeTurn(dollars(10), { leases: [], spentUsd: 0 }, unpriced, NOW)).toEqual({
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

it("never reserves more than the cap, for any starts and ends", () => {
  const quota = dollars(10);
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
    expect(leases.reduce((sum, one) => sum + one.reservedUsd, spentUsd)).toBeLessThanOrEqual(
      10 + 1e-9,
    );
    const [ended] = turn % 2 === 0 ? leases : [];
    if (ended) spentUsd += ended.reservedUsd / 4;
    leases = leases.filter((one) => one !== ended);
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
])("the limit %j is %s", (text, limit) => {
  expect(parseLimit(text)).toBe(limit);
});

it.each(["many", "-1", "Infinity"])("%s is not a limit", (text) => {
  expect(() => parseLimit(text)).toThrow("is not a valid limit");
});

it.each([
  { name: "nothing set", variables: {}, bad: null },
  {
    name: "numbers",
    variables: { TENANT_CONCURRENT_TURNS: "20", TENANT_USD_PER_DAY: "0" },
    bad: null,
  },
  {
    name: "a word",
    variables: { TENANT_CONCURRENT_TURNS: "many" },
    bad: "TENANT_CONCURRENT_TURNS",
  },
  {
    name: "a sign",
    variables: { TENANT_CONCURRENT_TURNS: "20", TENANT_USD_PER_DAY: "$5" },
    bad: "TENANT_USD_PER_DAY",
  },
])("of the variables with limits, $name: $bad is invalid", ({ variables, bad }) => {
  expect(badLimit(variables)).toBe(bad);
});

describe("the deployment's variables limit (F2)", () => {
  it.each([
    {
      name: "a tenant with keys to 20 turns by default",
      isLocal: false,
      variables: {},
      turns: 20,
      usd: null,
    },
    {
      name: "open local access by nothing by default",
      isLocal: true,
      variables: {},
      turns: null,
      usd: null,
    },
    {
      name: "open local access to their values",
      isLocal: true,
      variables: { turns: "1", usd: "0.00001" },
      turns: 1,
      usd: 0.00001,
    },
    {
      name: "a tenant with keys to their values",
      isLocal: false,
      variables: { turns: "3", usd: "5" },
      turns: 3,
      usd: 5,
    },
    {
      name: "nothing if they are 0",
      isLocal: false,
      variables: { turns: "0", usd: "0" },
      turns: null,
      usd: null,
    },
    {
      name: "by their defaults if they are empty",
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
