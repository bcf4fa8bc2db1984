import { expect, it } from "vitest";
import { MonotonicClock } from "../../src/async/clock";
import { nextTimerAt, owed } from "../../src/coordination";
import { fails } from "./builders";
import { START, World } from "./world";

it("a failed call is retried after its delay, even if the wall clock jumped forward and back", () => {
  let wallTime = START;
  const clock = new MonotonicClock(() => wallTime);
  const world = new World({ agents: ["a"] });
  const setWallTime = (time: number): void => {
    wallTime = time;
    world.now = clock.now();
  };
  setWallTime(START);
  world.ask();
  setWallTime(START + 100_000);
  world.give({ type: "clock" });
  world.starts("a");
  setWallTime(START + 1_000);
  world.does("a", fails({ retryAfterMs: 5_000 }));
  expect(owed(world.state)).toMatchObject([{ notBefore: world.now + 5_000 }]);
  expect(nextTimerAt(world.state)).toBe(world.now + 5_000);
  setWallTime(START + 6_000);
  expect(owed(world.state)).toMatchObject([{ notBefore: world.now }]);
  expect(world.starts("a").map(({ type }) => type)).toEqual(["call.started"]);
});
