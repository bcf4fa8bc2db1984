import { expect, it } from "vitest";
import type { SessionEvent } from "../../src/protocol/events";
import { answers } from "./builders";
import { eventLines } from "./event-lines";
import { World, type WorldOptions } from "./world";

/**
 * One test of a rule. A team gets a question, and `given` brings it into a state. Then `when` gives
 * an input, after which exactly the events `then` are logged and the effects `owes` are owed. The
 * events and effects are lines as in `event-lines.ts`.
 */
export type Row = {
  name: string;
  world?: WorldOptions;
  given?: (world: World) => void;
  when: (world: World) => SessionEvent[];
  then: string[];
  owes?: string[];
};

/** Defines one test for each row. */
export function table(rows: Row[]): void {
  it.each(rows)("$name", ({ world: options, given, when, then, owes }) => {
    const world = new World(options);
    world.ask();
    given?.(world);
    expect(eventLines(when(world))).toEqual(then);
    if (owes) expect(world.owes()).toEqual(owes);
  });
}

/**
 * Every agent gives its first answer, in the order of the team. The text is the id in upper case.
 */
export function allAnswer(world: World): void {
  for (const id of world.ids) world.does(id, answers(id.toUpperCase()));
}

/** A team whose answers can exceed the size limit of all answers together. */
export const SIX_AGENTS = {
  agents: ["a", "b", "c", "d", "e", "f"],
  rules: { max_new_answers_per_agent: 20, fairness_lead_cap_answers: null },
};

/**
 * Every agent gives its first answer. Then the agents give `count` more answers of 128 KB, in turn.
 */
export function giveLargeAnswers(world: World, count: number): void {
  allAnswer(world);
  for (let n = 0; n < count; n += 1) {
    world.does(world.ids[n % world.ids.length] ?? "", answers(`${n}`.padEnd(128 * 1024, "x")));
  }
}
