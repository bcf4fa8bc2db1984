import { describe, expect, it } from "vitest";
import { nextTimerAt, owed, MonotonicClock } from "../../src/coordination";
import { fails } from "./builders";
import { START, World } from "./world";

describe("a steady clock", () => {
  it.each([
    { name: "follows the wall clock", wall: [5, 7, 7, 9], told: [5, 7, 7, 9] },
    { name: "follows a jump forward", wall: [5, 1_000, 1_001], told: [5, 1_000, 1_001] },
    {
      name: "continues at the pace of the wall clock after a jump back",
      wall: [1_000, 10, 11, 15],
      told: [1_000, 1_000, 1_001, 1_005],
    },
    {
      name: "keeps its lead when the wall jumps again",
      wall: [100, 50, 60, 90, 80, 85],
      told: [100, 100, 110, 140, 140, 145],
    },
  ])("$name", ({ wall, told }) => {
    const times = [...wall];
    const clock = new MonotonicClock(() => times.shift() ?? 0);
    expect(wall.map(() => clock.now())).toEqual(told);
  });

  it("begins where a log ends that is ahead of the wall", () => {
    const times = [10, 12];
    const clock = new MonotonicClock(() => times.shift() ?? 0, 1_000);
    expect([clock.now(), clock.now()]).toEqual([1_000, 1_002]);
  });

  it("lets a try that failed after a jump forward and back be repeated when its delay is over", () => {
    let wall = START;
    const clock = new MonotonicClock(() => wall);
    const world = new World({ agents: ["a"] });
    const at = (time: number): void => {
      wall = time;
      world.now = clock.now();
    };
    at(START);
    world.ask();
    at(START + 100_000);
    world.give({ type: "clock" });
    world.starts("a");
    at(START + 1_000);
    world.does("a", fails({ retryAfterMs: 5_000 }));
    expect(owed(world.state)).toMatchObject([{ notBefore: world.now + 5_000 }]);
    expect(nextTimerAt(world.state)).toBe(world.now + 5_000);
    at(START + 6_000);
    expect(owed(world.state)).toMatchObject([{ notBefore: world.now }]);
    expect(world.starts("a").map(({ type }) => type)).toEqual(["call.started"]);
  });
});
