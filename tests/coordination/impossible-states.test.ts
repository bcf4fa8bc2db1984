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
 * An impossible state is never ignored: a bug in a rule or an invalid log causes a precise error.
 */

const worldWithQuestion = (): World => {
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

describe("an impossible state throws an error", () => {
  it.each<{ name: string; when: () => unknown; message: string }>([
    {
      name: "a first turn without a team",
      when: () => decide(emptySession, { ...request, at: 0, seed: 0 }, EMPTY_WORLD),
      message: "the first turn of a session brings its team",
    },
    {
      name: "an event outside a turn",
      when: () =>
        evolve(emptySession, {
          type: "attempt.started",
          at: 0,
          turn: 1,
          attempt: 1,
          feedback: null,
        }),
      message: "attempt.started outside a turn",
    },
    {
      name: "a turn of a session that has no team",
      when: () => worldWithQuestion().log.slice(1).reduce(evolve, emptySession),
      message: "a turn without a team",
    },
    {
      name: "a rule that reads the turn when no turn runs",
      when: () => draftOf(emptySession).turn,
      message: "no turn is running",
    },
    {
      name: "the rules of a missing agent",
      when: () => draftOf(worldWithQuestion().state).rulesOf(3),
      message: "no agent at index 3",
    },
    {
      name: "the round of an agent without a round",
      when: () => {
        const world = worldWithQuestion();
        world.does("a", answers("A"));
        return draftOf(world.state).round(0);
      },
      message: "agent 0 has no open round",
    },
    {
      name: "a missing agent",
      when: () => agentAt(worldWithQuestion().turn.attempt, 3),
      message: "no agent at index 3",
    },
    {
      name: "a missing answer",
      when: () => answerAt(worldWithQuestion().turn.attempt, 1),
      message: "no answer of revision 1",
    },
    {
      name: "an id that no agent has",
      when: () => indexOf(worldWithQuestion().turn, "z"),
      message: "no agent with id z",
    },
    {
      name: "a completed turn without a final text",
      when: () => completeTurn(draftOf(worldWithQuestion().state)),
      message: "a turn cannot complete without a final text",
    },
  ])("$name: $message", ({ when, message }) => {
    expect(when).toThrow(message);
  });

  it("but the id of the first agent, whose index is 0, is valid", () => {
    expect(indexOf(worldWithQuestion().turn, "a")).toBe(0);
  });
});
