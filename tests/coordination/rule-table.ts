import { expect, it } from "vitest";
import type { SessionEvent } from "../../src/protocol/events";
import { answers } from "./builders";
import { eventLines } from "./event-lines";
import { World, type WorldOptions } from "./world";

/**
 * One rule: a team with a question, the events before, one input, and exactly the events and the
 * owed effects after it.
 */
export type Row = {
  name: string;
  world?: WorldOptions;
  given?: (world: World) => void;
  when: (world: World) => SessionEvent[];
  then: string[];
  owes?: string[];
};

export function table(rows: Row[]): void {
  it.each(rows)("$name", ({ world: options, given, when, then, owes }) => {
    const world = new World(options);
    world.ask();
    given?.(world);
    expect(eventLines(when(world))).toEqual(then);
    if (owes) expect(world.owes()).toEqual(owes);
  });
}

/** Every agent gives its first answer, the agent's id in capitals, in order. */
export function allAnswer(world: World): void {
  for (const id of world.ids) world.does(id, answers(id.toUpperCase()));
}

/** A team whose answers can exceed the size limit of all answers together. */
export const SIX_AGENTS = {
  agents: ["a", "b", "c", "d", "e", "f"],
  rules: { max_new_answers_per_agent: 20, fairness_lead_cap_answers: null },
};

/**
 * Every agent gives its first answer. Then the agents take turns with `count` answers of 128 KB.
 */
export function giveLargeAnswers(world: World, count: number): void {
  allAnswer(world);
  for (let nth = 0; nth < count; nth += 1) {
    world.does(world.ids[nth % world.ids.length] ?? "", answers(`${nth}`.padEnd(128 * 1024, "x")));
  }
}
