import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { AlarmScheduler, WATCHDOG_MS } from "../../src/engine/alarm-scheduler";

async function inObject(test: (storage: DurableObjectStorage) => Promise<void>): Promise<void> {
  const stub = env.SESSIONS.get(env.SESSIONS.newUniqueId());
  await runInDurableObject(stub, (_, state) => test(state.storage));
}

it.each([
  { name: "the watchdog while a turn runs", isRunning: true, next: 3_000, alarm: WATCHDOG_MS },
  {
    name: "the watchdog if the turn has no timer",
    isRunning: true,
    next: null,
    alarm: WATCHDOG_MS,
  },
  { name: "the next background work if no turn runs", isRunning: false, next: 3_000, alarm: 3_000 },
  {
    name: "the next whole millisecond if the work is due at a fraction of one",
    ...{ isRunning: false, next: 2_999.2, alarm: 3_000 },
  },
])("sets the alarm to $name", async ({ isRunning, next, alarm }) => {
  await inObject(async (storage) => {
    const now = Date.now();
    await new AlarmScheduler(storage, () => {}).arm(isRunning, next);
    const armedAt = Date.now();
    const alarmAt = (await storage.getAlarm()) ?? 0;
    expect(alarmAt - now - alarm).toBeGreaterThanOrEqual(0);
    expect(alarmAt - armedAt - alarm).toBeLessThan(50);
    await storage.deleteAlarm();
  });
});

it("writes one alarm for all timers of a turn, and no alarm that is later than the current one", async () => {
  await inObject(async (storage) => {
    const setAlarm = vi.spyOn(storage, "setAlarm");
    const alarms = new AlarmScheduler(storage, () => {});
    for (const next of [9_000, 2_000, 60_000, 10_000, null]) await alarms.arm(true, next);
    expect(setAlarm).toHaveBeenCalledTimes(1);
    await alarms.arm(false, 60_000);
    expect(setAlarm).toHaveBeenCalledTimes(1);
    await alarms.arm(false, 2_000);
    expect(setAlarm).toHaveBeenCalledTimes(2);
    await alarms.arm(false, null);
    expect(await storage.getAlarm()).toBeNull();
  });
});

it.each([true, false])(
  "replaces an overdue alarm, because it may be lost (a turn runs: %s)",
  async (isRunning) => {
    await inObject(async (storage) => {
      const setAlarm = vi.spyOn(storage, "setAlarm").mockResolvedValue();
      const alarms = new AlarmScheduler(storage, () => {});
      await alarms.arm(false, 0);
      await scheduler.wait(5);
      await alarms.arm(isRunning, 3_000);
      expect(setAlarm).toHaveBeenCalledTimes(2);
      await alarms.arm(false, null);
    });
  },
);

it.each([true, false])(
  "never sets an alarm to the current time, because it may not fire (a turn runs: %s)",
  async (isRunning) => {
    await inObject(async (storage) => {
      const setAlarm = vi.spyOn(storage, "setAlarm").mockResolvedValue();
      const alarms = new AlarmScheduler(storage, () => {});
      const before = Date.now();
      await alarms.arm(isRunning, 0);
      expect(Number(setAlarm.mock.calls[0]?.[0])).toBeGreaterThan(before);
      await alarms.arm(false, null);
    });
  },
);

it("sets the next alarm when an alarm fires, but only while a turn runs", async () => {
  await inObject(async (storage) => {
    const alarms = new AlarmScheduler(storage, () => {});
    await alarms.onAlarm(true);
    expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
    await storage.deleteAlarm();
    await alarms.onAlarm(false);
    expect(await storage.getAlarm()).toBeNull();
  });
});

it("leaves the watchdog's work to the alarm, and does it only if the alarm is late", async () => {
  await inObject(async (storage) => {
    const setTimer = vi.spyOn(globalThis, "setTimeout");
    const alarms = new AlarmScheduler(storage, () => {});
    await alarms.arm(true, null);
    expect(Number(setTimer.mock.calls[0]?.[1])).toBeGreaterThan(WATCHDOG_MS);
    expect(Number(setTimer.mock.calls[0]?.[1])).toBeLessThan(2 * WATCHDOG_MS);
    await alarms.arm(false, null);
    setTimer.mockRestore();
  });
});

it("calls the session at the exact time by a timer in memory", async () => {
  await inObject(async (storage) => {
    const fired = Promise.withResolvers<number>();
    const due = Date.now() + 40;
    const alarms = new AlarmScheduler(storage, () => fired.resolve(Date.now()));
    await alarms.arm(true, 40);
    expect((await fired.promise) - due).toBeGreaterThanOrEqual(0);
    await alarms.arm(false, null);
  });
});
