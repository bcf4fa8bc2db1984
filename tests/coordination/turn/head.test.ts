import { describe, expect, it } from "vitest";
import { headOf, headRefusal, parentOfNext } from "../../../src/coordination";
import { answers, cancel, votes } from "../builders";
import { World } from "../world";

/** A session with this number of completed turns. */
function sessionOf(turns: number): World {
  const world = new World({ agents: ["a", "b"] });
  for (let turn = 1; turn <= turns; turn += 1) {
    world.ask();
    world.play({ a: [answers("A"), votes("a")], b: [answers("B"), votes("a")] });
  }
  return world;
}

const move = (world: World, turn: number) => world.give({ type: "head_requested", turn });
const moves = (world: World) =>
  world.events("head.moved").map(({ turn, head }) => ({ turn, head }));

describe("the head of a session", () => {
  it("is unknown before the first turn, so that the first turn has no parent", () => {
    expect(headOf(new World().state)).toBeNull();
  });

  it.each([
    { name: "is a turn from its start", given: () => sessionOf(0), ask: true, head: 1 },
    { name: "is the latest turn", given: () => sessionOf(3), head: 3 },
    {
      name: "is the turn that the user moved it to",
      given: () => {
        const world = sessionOf(3);
        move(world, 1);
        return world;
      },
      head: 1,
    },
    {
      name: "is the next turn again once that turn starts",
      given: () => {
        const world = sessionOf(3);
        move(world, 1);
        return world;
      },
      ask: true,
      head: 4,
    },
    {
      name: "is also a turn that was cancelled",
      given: () => {
        const world = sessionOf(1);
        world.ask();
        world.give(cancel);
        return world;
      },
      head: 2,
    },
  ])("$name", ({ given, ask, head }) => {
    const world = given();
    if (ask) world.ask();
    expect(headOf(world.state)).toBe(head);
  });

  it("moves by one event outside of all turns, and not again to where it is", () => {
    const world = sessionOf(2);
    move(world, 1);
    move(world, 1);
    move(world, 2);
    expect(moves(world)).toEqual([
      { turn: 0, head: 1 },
      { turn: 0, head: 2 },
    ]);
  });

  it.each([
    { name: "while a turn runs", running: true, turn: 1, code: "turn_running" },
    { name: "to a turn that does not exist", running: false, turn: 3, code: "turn_not_found" },
    { name: "to before the first turn", running: false, turn: 0, code: "turn_not_found" },
  ])("does not move $name", ({ running, turn, code }) => {
    const world = sessionOf(2);
    if (running) world.ask();
    expect(headRefusal(world.state, turn)?.code).toBe(code);
    move(world, turn);
    expect(moves(world)).toEqual([]);
  });

  it.each([
    { name: "the head, if the request says nothing", movedTo: 1, named: undefined, parent: 1 },
    { name: "no turn, if the request says so", movedTo: 2, named: null, parent: null },
    { name: "the turn that the request names", movedTo: 1, named: 2, parent: 2 },
    {
      name: "the latest turn, if the head was never moved",
      movedTo: 3,
      named: undefined,
      parent: 3,
    },
  ])("makes the next turn continue $name", ({ movedTo, named, parent }) => {
    const world = sessionOf(3);
    move(world, movedTo);
    expect(parentOfNext(world.state, named)).toBe(parent);
  });
});
