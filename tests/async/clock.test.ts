import { describe, expect, it } from "vitest";
import { createMonotonicTimer, MonotonicClock } from "../../src/async/clock";
import { ManualTimers } from "../providers/manual-timers";

describe("a monotonic clock", () => {
  it.each([
    { name: "follows the wall clock", wall: [5, 7, 7, 9], times: [5, 7, 7, 9] },
    { name: "follows a jump forward", wall: [5, 1_000, 1_001], times: [5, 1_000, 1_001] },
    {
      name: "continues at the wall clock's speed after a jump back",
      wall: [1_000, 10, 11, 15],
      times: [1_000, 1_000, 1_001, 1_005],
    },
    {
      name: "stays ahead of the wall clock after each further jump back",
      wall: [100, 50, 60, 90, 80, 85],
      times: [100, 100, 110, 140, 140, 145],
    },
  ])("$name", ({ wall, times }) => {
    const readings = [...wall];
    const clock = new MonotonicClock(() => readings.shift() ?? 0);
    expect(wall.map(() => clock.now())).toEqual(times);
  });

  it("starts at the last time of a log that is ahead of the wall clock", () => {
    const wall = [10, 12];
    const clock = new MonotonicClock(() => wall.shift() ?? 0, 1_000);
    expect([clock.now(), clock.now()]).toEqual([1_000, 1_002]);
  });
});

describe("a monotonic timer", () => {
  /**
   * Starts a timer. `fired`: for each time it fires, its own time, and the ms by which the wall
   * clock had advanced less.
   */
  function start() {
    const timers = new ManualTimers();
    const fired: [at: number, unseen: number][] = [];
    const timer = createMonotonicTimer(timers, (unseen) => void fired.push([timer.now(), unseen]));
    return { timers, timer, fired };
  }

  it.each([
    { name: "runs evenly", jump: 0, unseen: 0 },
    { name: "is set back", jump: -500, unseen: 60 },
    { name: "is set forward", jump: 500, unseen: 0 },
  ])("fires exactly at its due time if the wall clock $name", async ({ jump, unseen }) => {
    const { timers, timer, fired } = start();
    timer.set(100);
    await timers.advance(40);
    expect(timer.now()).toBe(40);
    timers.jump(jump);
    await timers.advance(59);
    expect(fired).toEqual([]);
    await timers.advance(1);
    expect(fired).toEqual([[100, unseen]]);
  });

  it("fires once, at the time that was set last, and never after it is cleared", async () => {
    const { timers, timer, fired } = start();
    timer.set(100);
    timer.set(50);
    await timers.advance(200);
    expect(fired).toEqual([[50, 0]]);
    timer.set(100);
    timer.clear();
    await timers.advance(200);
    expect([fired.length, timers.waiting]).toEqual([1, 0]);
  });
});
