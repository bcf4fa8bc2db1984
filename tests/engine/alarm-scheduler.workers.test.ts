import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { AlarmScheduler, WATCHDOG_MS } from "../../src/engine/alarm-scheduler";

async function inObject(test: (storage: DurableObjectStorage) => Promise<void>): Promise<void> {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  await runInDurableObject(stub, (_, state) => test(state.storage));
}

it.each([
  { name: "the next timer, if it comes before the watchdog", next: 3_000, alarm: 3_000 },
  { name: "the watchdog, if the next timer is far", next: 60_000, alarm: WATCHDOG_MS },
  { name: "the watchdog, if there is no timer", next: null, alarm: WATCHDOG_MS },
  {
    name: "a moment that is certainly due, if the timer is a fraction",
    next: 2_999.2,
    alarm: 3_000,
  },
])("sets the alarm to $name", async ({ next, alarm }) => {
  await inObject(async (storage) => {
    const now = Date.now();
    await new AlarmScheduler(storage, () => {}).arm(true, next);
    const armed = Date.now();
    const set = (await storage.getAlarm()) ?? 0;
    expect(set - now - alarm).toBeGreaterThanOrEqual(0);
    expect(set - armed - alarm).toBeLessThan(50);
    await storage.deleteAlarm();
  });
});

it("writes no alarm that is later than the current one", async () => {
  await inObject(async (storage) => {
    const write = vi.spyOn(storage, "setAlarm");
    const wakeUp = new AlarmScheduler(storage, () => {});
    for (const later of [9_000, 9_500, 60_000, 10_000]) await wakeUp.arm(true, later);
    expect(write).toHaveBeenCalledTimes(1);
    await wakeUp.arm(true, 2_000);
    expect(write).toHaveBeenCalledTimes(2);
    await wakeUp.arm(false, null);
    expect(await storage.getAlarm()).toBeNull();
  });
});

it.each([true, false])(
  "replaces an overdue alarm, which may be lost, by another; a turn runs: %s",
  async (isRunning) => {
    await inObject(async (storage) => {
      const write = vi.spyOn(storage, "setAlarm").mockResolvedValue();
      const wakeUp = new AlarmScheduler(storage, () => {});
      await wakeUp.arm(isRunning, 0);
      await scheduler.wait(5);
      await wakeUp.arm(isRunning, 3_000);
      expect(write).toHaveBeenCalledTimes(2);
      await wakeUp.arm(false, null);
    });
  },
);

it.each([true, false])(
  "sets no alarm for the present moment, which its own handler would lose; a turn runs: %s",
  async (isRunning) => {
    await inObject(async (storage) => {
      const write = vi.spyOn(storage, "setAlarm").mockResolvedValue();
      const wakeUp = new AlarmScheduler(storage, () => {});
      const before = Date.now();
      await wakeUp.arm(isRunning, 0);
      expect(Number(write.mock.calls[0]?.[0])).toBeGreaterThan(before);
      await wakeUp.arm(false, null);
    });
  },
);

it("is set again first of all when it fires, unless nothing runs", async () => {
  await inObject(async (storage) => {
    const wakeUp = new AlarmScheduler(storage, () => {});
    await wakeUp.onAlarm(true);
    expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
    await storage.deleteAlarm();
    await wakeUp.onAlarm(false);
    expect(await storage.getAlarm()).toBeNull();
  });
});

it("fires in memory at the exact time", async () => {
  await inObject(async (storage) => {
    const rang = Promise.withResolvers<number>();
    const due = Date.now() + 40;
    const wakeUp = new AlarmScheduler(storage, () => rang.resolve(Date.now()));
    await wakeUp.arm(true, 40);
    expect((await rang.promise) - due).toBeGreaterThanOrEqual(0);
    await wakeUp.arm(false, null);
  });
});
