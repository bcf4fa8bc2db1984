import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WATCHDOG_MS } from "../../../../src/engine/alarm-scheduler";
import type { Tool } from "../../../../src/tools/tool";
import { workingAgent } from "../tools/tool-rig";

/**
 * The alarm for work that outlives a turn: here a report of the turn's end that the tenant does not
 * receive.
 */

/** A tool that never ends. */
const waits: Tool = {
  spec: { name: "waits", description: "Waits.", parameters: { type: "object" } },
  rule: { name: "waits", acts_outside: false, idempotent: true },
  run: () => new Promise(() => undefined),
};

let agent: ReturnType<typeof workingAgent>;
let tries: PromiseWithResolvers<void>[];
let now: number;

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  now = 1_795_000_000_000;
  vi.spyOn(Date, "now").mockImplementation(() => now);
  tries = [];
  const settle = () => {
    const one = Promise.withResolvers<void>();
    tries.push(one);
    return one.promise;
  };
  agent = workingAgent([waits], (reply) => (reply === 2 ? [{ name: "waits" }] : []), undefined, {
    settle,
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  agent.close();
});

/** The tenant gets this many reports, and does not receive the last of them. */
async function isDeafTo(times: number): Promise<void> {
  await vi.waitFor(() => expect(tries).toHaveLength(times), 10_000);
  tries.at(-1)?.reject(new Error("the tenant is away"));
}

/** Ms until the alarm fires, once it is set at this distance. */
const standsAfter = (ms: number) =>
  vi.waitFor(() => expect((agent.alarmAt() ?? 0) - now).toBe(ms), 10_000);

it("during a try the alarm is only a safety net and does not fire at once again", async () => {
  agent.ask();
  await isDeafTo(1);
  await standsAfter(1_000);
  now += 1_000;
  await agent.ring();
  await vi.waitFor(() => expect(tries).toHaveLength(2), 10_000);
  await standsAfter(WATCHDOG_MS);
  await isDeafTo(2);
  await standsAfter(2_000);
});

it("during another turn the work is also tried by the timer in memory, which may replace the alarm", async () => {
  agent.ask();
  await isDeafTo(1);
  await standsAfter(1_000);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  agent.ask();
  now += WATCHDOG_MS;
  await vi.advanceTimersByTimeAsync(WATCHDOG_MS);
  expect(tries).toHaveLength(2);
});

it("a reloaded object sets the alarm for waiting work, also if the platform has lost the alarm", async () => {
  agent.ask();
  await isDeafTo(1);
  await standsAfter(1_000);
  agent.loseAlarm();
  await vi.waitFor(() => expect(agent.alarmAt()).toBeNull(), 10_000);
  await agent.restart();
  await standsAfter(1_000);
});
