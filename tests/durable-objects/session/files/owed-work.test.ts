import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LONGEST_TIMER_MS, WATCHDOG_MS } from "../../../../src/engine/alarm-scheduler";
import type { Tool } from "../../../../src/tools/tool";
import { workingAgent } from "../tools/tool-rig";

/**
 * The alarm for work that continues after the end of a turn: here a report of the turn's end that
 * fails.
 */

/** A tool that never ends. */
const waitingTool: Tool = {
  spec: { name: "waits", description: "Waits.", parameters: { type: "object" } },
  rule: { name: "waits", acts_outside: false, idempotent: true },
  run: () => new Promise(() => undefined),
};

let agent: ReturnType<typeof workingAgent>;
/** The reports to the tenant so far. */
let reports: PromiseWithResolvers<void>[];
let now: number;

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  now = 1_795_000_000_000;
  vi.spyOn(Date, "now").mockImplementation(() => now);
  reports = [];
  const settle = () => {
    const report = Promise.withResolvers<void>();
    reports.push(report);
    return report.promise;
  };
  agent = workingAgent(
    [waitingTool],
    (reply) => (reply === 2 ? [{ name: "waits" }] : []),
    undefined,
    {
      settle,
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  agent.close();
});

/** Waits for this number of reports, and lets the last one fail. */
async function failReport(count: number): Promise<void> {
  await vi.waitFor(() => expect(reports).toHaveLength(count), 10_000);
  reports.at(-1)?.reject(new Error("the tenant is away"));
}

/** Waits until the alarm is set to this time from now. */
const waitForAlarmIn = (ms: number) =>
  vi.waitFor(() => expect((agent.alarmAt() ?? 0) - now).toBe(ms), 10_000);

it("while a report is in progress, the alarm is set to the watchdog time only", async () => {
  agent.ask();
  await failReport(1);
  await waitForAlarmIn(1_000);
  now += 1_000;
  await agent.ring();
  await vi.waitFor(() => expect(reports).toHaveLength(2), 10_000);
  await waitForAlarmIn(WATCHDOG_MS);
  await failReport(2);
  await waitForAlarmIn(2_000);
});

it("while another turn runs and the alarm is late, the timer in memory starts the next report", async () => {
  agent.ask();
  await failReport(1);
  await waitForAlarmIn(1_000);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  agent.ask();
  now += LONGEST_TIMER_MS;
  await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS);
  expect(reports).toHaveLength(2);
});

it("a reloaded object sets the alarm for work that waits, also if the platform has lost the alarm", async () => {
  agent.ask();
  await failReport(1);
  await waitForAlarmIn(1_000);
  agent.loseAlarm();
  await vi.waitFor(() => expect(agent.alarmAt()).toBeNull(), 10_000);
  await agent.restart();
  await waitForAlarmIn(1_000);
});
