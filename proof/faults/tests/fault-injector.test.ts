import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { NO_OBSERVATIONS, type Orders } from "../build/orders";
import { FaultInjector } from "../soak/fault-injector";

const URL = "http://127.0.0.1:1";

describe("orders of faults", () => {
  type OrderReply = "received" | "late";
  /**
   * Injects faults until the injector has sent `fewestOrders` orders. `replies`: the replies to the
   * first orders. All later orders are applied.
   */
  async function startInjector(replies: readonly OrderReply[], fewestOrders = 2) {
    const received: Orders[] = [];
    const end = new AbortController();
    let count = 0;
    const order = async (orders: Orders) => {
      count += 1;
      received.push(orders);
      if (replies[count - 1] === "late") throw new Error("Timed out: no order was applied.");
      return NO_OBSERVATIONS;
    };
    const succeed = async () => "";
    const service = { url: URL, order, fireAlarm: succeed, reset: succeed };
    const injector = new FaultInjector({
      service,
      seed: 1,
      everyMs: 20,
      targets: () => [],
      isResting: () => false,
    });
    const injecting = injector.injectUntil(end.signal);
    while (received.length < fewestOrders) await sleep(5);
    end.abort();
    return { injecting, injector, received };
  }

  it.each([
    { name: "an order of a fault", replies: ["late"] },
    { name: "an order that clears the faults", replies: ["received", "late"] },
    { name: "several orders in a row", replies: ["received", "late", "late", "late"] },
  ] as const)(
    "are repeated until the faults are cleared, after a late reply to $name",
    async ({ replies }) => {
      const { injecting, injector, received } = await startInjector(replies);
      await injecting;
      expect(received.length).toBeGreaterThan(replies.length);
      expect(received.at(-1)).toEqual({});
      expect(injector.quietSince).toBeLessThanOrEqual(performance.now());
    },
  );

  it("are not sent during a pause, because a fault without an active session tests nothing", async () => {
    const received: Orders[] = [];
    const order = async (orders: Orders) => {
      received.push(orders);
      return NO_OBSERVATIONS;
    };
    const [end, checks] = [new AbortController(), { times: 0 }];
    const isResting = () => {
      checks.times += 1;
      return checks.times <= 10;
    };
    const service = { url: URL, order, fireAlarm: async () => "", reset: async () => "" };
    const injector = new FaultInjector({
      service,
      seed: 1,
      everyMs: 20,
      targets: () => [],
      isResting,
    });
    const injecting = injector.injectUntil(end.signal);
    while (checks.times < 10) expect([await sleep(5), received]).toEqual([undefined, []]);
    while (received.length === 0) await sleep(5);
    end.abort();
    await injecting;
  });

  it("that clear all faults are repeated after a late reply, also if there was no fault", async () => {
    const { injecting, injector, received } = await startInjector(["late"], 0);
    await injecting;
    expect(received).toEqual([{}, {}]);
    expect(injector.quietSince).not.toBeNull();
  });

  it("end the injector with an error if they are never applied", async () => {
    const { injecting, injector } = await startInjector([
      "received",
      ...Array.from({ length: 99 }, () => "late" as const),
    ]);
    await expect(injecting).rejects.toThrow("no order was applied");
    expect(injector.quietSince).toBeNull();
  }, 20_000);
});
