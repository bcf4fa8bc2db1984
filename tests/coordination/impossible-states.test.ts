import { describe, expect, it } from "vitest";
import {
  decide,
  EMPTY_WORLD,
  emptySession,
  evolve,
  type InputBody,
  type SessionState,
} from "../../src/coordination";
import { Draft } from "../../src/coordination/draft";
import { agentAt, answerAt, indexOf } from "../../src/coordination/state";
import { completeTurn } from "../../src/coordination/turn/turn";
import { answers } from "./builders";
import { World } from "./world";

/**
 * An impossible state is never ignored: a broken rule or an invalid log fails with a precise error.
 */

const asked = (): World => {
  const world = new World();
  world.ask();
  return world;
};
const draftOf = (state: SessionState): Draft => new Draft(state, { at: 0, seed: 0 }, EMPTY_WORLD);
const request: InputBody = {
  type: "turn_requested",
  rules: null,
  question: "?",
  parentTurn: null,
  budget: {},
  timeoutMs: null,
};

describe("an impossible state throws", () => {
  it.each<{ name: string; when: () => unknown; says: string }>([
    {
      name: "a first turn without a team",
      when: () => decide(emptySession, { ...request, at: 0, seed: 0 }, EMPTY_WORLD),
      says: "the first turn of a session brings its team",
    },
    {
      name: "a fact outside a turn",
      when: () =>
        evolve(emptySession, {
          type: "attempt.started",
          at: 0,
          turn: 1,
          attempt: 1,
          feedback: null,
        }),
      says: "attempt.started outside a turn",
    },
    {
      name: "a turn of a session that has no team",
      when: () => asked().log.slice(1).reduce(evolve, emptySession),
      says: "a turn without a team",
    },
    {
      name: "a rule that reads the turn when no turn runs",
      when: () => draftOf(emptySession).turn,
      says: "no turn is running",
    },
    {
      name: "the rules of a missing agent",
      when: () => draftOf(asked().state).rulesOf(3),
      says: "no agent at index 3",
    },
    {
      name: "the round of an agent without a round",
      when: () => {
        const world = asked();
        world.does("a", answers("A"));
        return draftOf(world.state).round(0);
      },
      says: "agent 0 has no open round",
    },
    {
      name: "a missing agent",
      when: () => agentAt(asked().turn.attempt, 3),
      says: "no agent at index 3",
    },
    {
      name: "an answer without an author",
      when: () => answerAt(asked().turn.attempt, 1),
      says: "no answer of revision 1",
    },
    {
      name: "an id of no agent",
      when: () => indexOf(asked().turn, "z"),
      says: "no agent with id z",
    },
    {
      name: "a completed turn without a final text",
      when: () => completeTurn(draftOf(asked().state)),
      says: "a turn cannot complete without a final text",
    },
  ])("$name: $says", ({ when, says }) => {
    expect(when).toThrow(says);
  });

  it("the first agent of the team has an id, too", () => {
    expect(indexOf(asked().turn, "a")).toBe(0);
  });
});
