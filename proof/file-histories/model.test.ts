import { expect, it } from "vitest";
import { ModelWorld } from "./model-world";
import { play } from "./play";
import { randomHistory } from "./random-history";
import { WRITTEN_HISTORIES } from "./written-histories";

it.each(WRITTEN_HISTORIES)("the model: $name", async (history) => {
  const world = new ModelWorld(history);
  const { problem, conflicts } = await play(history, world);
  expect({ problem, conflicts, files: await world.files(0) }).toEqual({
    problem: null,
    conflicts: history.conflicts,
    files: history.then,
  });
});

/** Of 300 histories. A push that was killed is lost once others have pushed. */
const MOST_OPEN = 2;

it("in normal use, the model predicts no conflict, and decides nearly all", async () => {
  let open = 0;
  for (let seed = 1; seed <= 300; seed += 1) {
    const history = randomHistory(seed, { isNormal: true, length: 25 });
    const { conflicts, isOpen } = await play(history, new ModelWorld(history));
    expect({ seed, conflicts }).toEqual({ seed, conflicts: 0 });
    open += Number(isOpen);
  }
  expect(open).toBeLessThanOrEqual(MOST_OPEN);
});

it("random histories have turns of a branch that do not use a context yet", async () => {
  let later = 0;
  for (let seed = 1; seed <= 100; seed += 1) {
    const { operations } = randomHistory(seed, { isNormal: true, length: 25 });
    const asks = operations.filter((operation) => operation.type === "ask");
    later += Number(asks[0]?.uses !== undefined && asks.some(({ uses }) => uses === undefined));
  }
  expect(later).toBeGreaterThan(10);
});

it("random histories have turns, pulls, pushes and conflicts, and the model decides nearly all", async () => {
  const total = { turns: 0, pulls: 0, pushes: 0, conflicts: 0, open: 0 };
  for (let seed = 1; seed <= 300; seed += 1) {
    const history = randomHistory(seed, { isNormal: false, length: 25 });
    const played = await play(history, new ModelWorld(history));
    for (const name of ["turns", "pulls", "pushes", "conflicts"] as const)
      total[name] += played[name];
    total.open += Number(played.isOpen);
  }
  expect(Math.min(total.turns, total.pulls, total.pushes)).toBeGreaterThan(1_000);
  expect(total.conflicts).toBeGreaterThan(200);
  expect(total.open).toBeLessThan(15);
});
