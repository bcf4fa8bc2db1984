import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { NO_OBSERVATIONS, type Orders } from "../build/orders";
import { FaultInjector } from "../soak/fault-injector";

const URL = "http://127.0.0.1:1";

describe("late orders", () => {
  type OrderReply = "received" | "late";
  /**
   * Injects faults until so many orders were given. `answers`: of the first orders; all others are
   * applied.
   */
  async function faultCounts(answers: readonly OrderReply[], least = 2) {
    const received: Orders[] = [];
    const over = new AbortController();
    let count = 0;
    const order = async (orders: Orders) => {
      count += 1;
      received.push(orders);
      if (answers[count - 1] === "late") throw new Error("Timed out: no order was applied.");
      return NO_OBSERVATIONS;
    };
    const nothing = async () => "";
    const service = { url: URL, order, fireAlarm: nothing, reset: nothing };
    const injector = new FaultInjector({
      service,
      seed: 1,
      everyMs: 20,
      targets: () => [],
      isResting: () => false,
    });
    const striking = injector.injectUntil(over.signal);
    while (received.length < least) await sleep(5);
    over.abort();
    return { striking, injector, received };
  }

  it.each([
    { name: "an order of a fault", answers: ["late"] },
    { name: "an order that clears the faults", answers: ["received", "late"] },
    { name: "several of them", answers: ["received", "late", "late", "late"] },
  ] as const)("are repeated until the faults are cleared: $name", async ({ answers }) => {
    const { striking, injector, received } = await faultCounts(answers);
    await striking;
    expect(received.length).toBeGreaterThan(answers.length);
    expect(received.at(-1)).toEqual({});
    expect(injector.quietSince).toBeLessThanOrEqual(performance.now());
  });

  it("are not given during a pause: a fault that meets nothing shows nothing", async () => {
    const received: Orders[] = [];
    const order = async (orders: Orders) => {
      received.push(orders);
      return NO_OBSERVATIONS;
    };
    const [over, looks] = [new AbortController(), { times: 0 }];
    const isResting = () => {
      looks.times += 1;
      return looks.times <= 10;
    };
    const service = { url: URL, order, fireAlarm: async () => "", reset: async () => "" };
    const injector = new FaultInjector({
      service,
      seed: 1,
      everyMs: 20,
      targets: () => [],
      isResting,
    });
    const striking = injector.injectUntil(over.signal);
    while (looks.times < 10) expect([await sleep(5), received]).toEqual([undefined, []]);
    while (received.length === 0) await sleep(5);
    over.abort();
    await striking;
  });

  it("are repeated at the end, also if there was no fault", async () => {
    const { striking, injector, received } = await faultCounts(["late"], 0);
    await striking;
    expect(received).toEqual([{}, {}]);
    expect(injector.quietSince).not.toBeNull();
  });

  it("end the faults if they are never applied", async () => {
    const { striking, injector } = await faultCounts([
      "received",
      ...Array.from({ length: 99 }, () => "late" as const),
    ]);
    await expect(striking).rejects.toThrow("no order was applied");
    expect(injector.quietSince).toBeNull();
  }, 20_000);
});
