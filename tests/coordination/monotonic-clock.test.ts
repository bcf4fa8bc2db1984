import { expect, it } from "vitest";
import { MonotonicClock } from "../../src/async/clock";
import { nextTimerAt, owed } from "../../src/coordination";
import { fails } from "./builders";
import { START, World } from "./world";

it("a try that failed after a clock jump forward and back is repeated when its delay is over", () => {
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
