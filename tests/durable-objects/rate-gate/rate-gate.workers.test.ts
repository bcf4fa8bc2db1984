import {
  env,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HOLD_MS, type RateRequest } from "../../../durable-objects/rate-gate/rate-gate-api";

let tenantCount = 0;
const newGate = () => {
  const name = `rates-${++tenantCount}`;
  return env.RATES.get(env.RATES.idFromName(name));
};
const request = (call: string, set: Partial<RateRequest> = {}): RateRequest => ({
  endpoint: "https://x.net gemini-2.5-pro",
  call,
  limits: { tokensPerMinute: 100 },
  tokens: 60,
  ...set,
});
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const HOUR = 3_600_000;
/** Sets the wall clock back. */
const setClockBack = (ms: number) => {
  const real = Date.now.bind(Date);
  vi.spyOn(Date, "now").mockImplementation(() => real() - ms);
};
afterEach(() => vi.restoreAllMocks());

describe("a tenant's rate gate whose wall clock is set back", () => {
  it("holds a request no longer than the requested time", async () => {
    const gate = newGate();
    await gate.start(request("a"));
    const second = gate.start(request("b"), 1_000);
    await wait(300);
    setClockBack(HOUR);
    const answer = await Promise.race([second, wait(15_000).then(() => "still holds")]);
    expect(answer).toMatchObject({ type: "wait" });
  });

  it.each([
    { name: "two minutes", ms: 120_000 },
    { name: "an hour", ms: HOUR },
  ])(
    "by $name still admits the next call within a minute, also after a restart",
    async ({ ms }) => {
      const gate = newGate();
      await gate.start(request("a"));
      await evictDurableObject(gate);
      setClockBack(ms);
      const first = await gate.start(request("b"), 0);
      const askedAt = Date.now();
      await evictDurableObject(gate);
      await wait(1_500);
      const second = await gate.start(request("b"), 0);
      if (first.type !== "wait" || second.type !== "wait")
        throw new Error(`${first.type}, ${second.type}`);
      expect(first.startsAt - askedAt).toBeLessThanOrEqual(61_500);
      expect(second.startsAt).toBe(first.startsAt);
    },
  );
});

describe("a tenant's rate gate", () => {
  it("admits a call as soon as another call ends and has used less than it reserved", async () => {
    const gate = newGate();
    expect(await gate.start(request("a"))).toEqual({ type: "start" });
    const second = gate.start(request("b"));
    expect(await Promise.race([second, wait(300).then(() => "waits")])).toBe("waits");
    const settledAt = Date.now();
    await gate.settle(request("a").endpoint, "a", 5);
    expect(await second).toEqual({ type: "start" });
    expect(Date.now() - settledAt).toBeLessThan(5_000);
  });

  it("admits waiting calls in order", async () => {
    const gate = newGate();
    await gate.start(request("a", { tokens: 100 }));
    const order: string[] = [];
    const [b, c] = ["b", "c"].map((call) =>
      gate.start(request(call, { tokens: 50 })).then(() => order.push(call)),
    );
    await wait(100);
    await gate.settle(request("a").endpoint, "a", 0);
    await Promise.all([b, c]);
    expect(order).toEqual(["b", "c"]);
  });

  it("ends the wait of a call that leaves, and admits the next call", async () => {
    const gate = newGate();
    await gate.start(request("a", { tokens: 40 }));
    const large = gate.start(request("large", { tokens: 100 }));
    await wait(50);
    const small = gate.start(request("small", { tokens: 10 }));
    await wait(50);
    await gate.leave(request("a").endpoint, "large");
    expect(await Promise.all([large, small])).toEqual([{ type: "left" }, { type: "start" }]);
  });

  it("answers a waiting call after the hold time with an estimate of its start", async () => {
    const gate = newGate();
    const startedAt = Date.now();
    await gate.start(request("a", { tokens: 100 }));
    const answer = await gate.start(request("b"));
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(HOLD_MS - 100);
    expect(answer).toMatchObject({ type: "wait" });
    if (answer.type === "wait") expect(answer.startsAt - startedAt).toBeGreaterThan(59_000);
  });

  it("limits each endpoint separately", async () => {
    const gate = newGate();
    await gate.start(request("a", { tokens: 100 }));
    expect(await gate.start(request("b", { endpoint: "another" }))).toEqual({ type: "start" });
  });

  it("still counts usage and admitted calls after a restart", async () => {
    const gate = newGate();
    await gate.start(request("a"));
    await evictDurableObject(gate);
    expect(await gate.start(request("a"))).toEqual({ type: "start" });
    const other = gate.start(request("b"));
    expect(await Promise.race([other, wait(300).then(() => "waits")])).toBe("waits");
    await gate.leave(request("a").endpoint, "b");
    expect(await other).toEqual({ type: "left" });
  });

  it("deletes only usage that no longer counts", async () => {
    const gate = newGate();
    await gate.start(request("a", { tokens: 100 }));
    await gate.start(request("b", { endpoint: "another" }));
    const rows = () =>
      runInDurableObject(gate, (_, { storage }) =>
        storage.sql
          .exec("SELECT id FROM endpoints")
          .toArray()
          .map(({ id }) => id),
      );
    await runInDurableObject(gate, (_, { storage }) => {
      const longAgo = { minute: [], day: [{ start: 0, requests: 1, tokens: 100 }] };
      storage.sql.exec(
        "UPDATE endpoints SET spent = ? WHERE id = 'another'",
        JSON.stringify({ spent: longAgo, granted: [] }),
      );
    });
    expect(await runDurableObjectAlarm(gate)).toBe(true);
    expect(await rows()).toEqual([request("a").endpoint]);
    const alarm = await runInDurableObject(gate, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeGreaterThan(Date.now() + 23 * 3_600_000);
  });
});
