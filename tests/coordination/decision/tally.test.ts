import { describe, expect, it } from "vitest";
import { tallyVotes } from "../../../src/coordination";
import { answers, changedNothing, fails, says, votes, wrote } from "../builders";
import { allAnswer } from "../rule-table";
import { World, type WorldOptions } from "../world";

type Case = {
  name: string;
  world?: WorldOptions;
  given: (world: World) => void;
  winner: string | null;
  votes: Record<string, number>;
  tie?: boolean;
};

const failsFinally = (world: World, id: string): void => {
  for (let n = 0; n < 3; n += 1) world.does(id, fails({ class: "quota", code: "quota" }));
};

describe("the tally", () => {
  const cases: Case[] = [
    { name: "has no winner without an answer", given: () => {}, winner: null, votes: {} },
    {
      name: "without a vote selects the highest revision",
      given: allAnswer,
      winner: "agent3.1",
      votes: {},
    },
    {
      name: "without a vote prefers a complete answer to a later cut answer (D3)",
      given: (world) => {
        world.does("a", answers("A"));
        world.writing = { b: "a far longer text that was cut" };
        world.does("b", fails({ class: "bad_credentials", code: "bad_credentials" }));
      },
      winner: "agent1.1",
      votes: {},
    },
    {
      name: "selects the longest answer if all answers are cut (D3)",
      given: (world) => {
        for (const [id, text] of [
          ["a", "text"],
          ["b", "a longer text"],
          ["c", "a text"],
        ] as const) {
          world.writing = { [id]: text };
          world.does(id, fails({ class: "bad_credentials", code: "bad_credentials" }));
        }
      },
      winner: "agent2.1",
      votes: {},
    },
    {
      name: "prefers an answer with files to a longer answer if all answers are cut (D3)",
      world: { agents: ["a", "b"], every: { workspace: true } },
      given: (world) => {
        world.writing = { a: "text", b: "a longer text" };
        world.filesByAgent = { 0: wrote(1), 1: changedNothing() };
        for (const id of ["a", "b"])
          world.does(id, fails({ class: "bad_credentials", code: "bad_credentials" }));
      },
      winner: "agent1.1",
      votes: {},
    },
    {
      name: "selects the answer with the most valid votes",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("b", votes("b"));
      },
      winner: "agent2.1",
      votes: { "agent2.1": 2 },
    },
    {
      name: "selects the earliest revision in a tie",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("c"));
        world.does("b", votes("b"));
      },
      winner: "agent2.1",
      votes: { "agent2.1": 1, "agent3.1": 1 },
      tie: true,
    },
    {
      name: "counts only valid votes if there is a valid vote",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("b", votes("b"));
        world.does("c", answers("C2"));
        world.does("c", votes("c"));
      },
      winner: "agent3.2",
      votes: { "agent3.2": 1 },
    },
    {
      name: "without a valid vote counts the last votes for answers that are still candidates",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("b", votes("a"));
        world.does("c", answers("C2"));
      },
      winner: "agent1.1",
      votes: { "agent1.1": 1, "agent2.1": 1 },
      tie: true,
    },
    {
      name: "does not count last votes for an answer that its author replaced",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("c"));
        world.does("b", votes("a"));
        world.does("c", answers("C2"));
      },
      winner: "agent1.1",
      votes: { "agent1.1": 1 },
    },
    {
      name: "selects the highest revision if no last vote counts",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("c"));
        world.does("c", answers("C2"));
      },
      winner: "agent3.2",
      votes: {},
    },
    {
      name: "counts only the last of an agent's votes",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("a"));
        world.does("b", votes("b"));
        world.does("c", answers("C2"));
        world.does("a", votes("b"));
        world.does("c", answers("C3"));
      },
      winner: "agent2.1",
      votes: { "agent2.1": 2 },
    },
    {
      name: "includes the answers of a failed agent",
      given: (world) => {
        allAnswer(world);
        failsFinally(world, "a");
        world.does("b", votes("a"));
      },
      winner: "agent1.1",
      votes: { "agent1.1": 1 },
    },
    {
      name: "includes the last vote of an agent that failed afterwards",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("c", answers("C2"));
        failsFinally(world, "a");
      },
      winner: "agent2.1",
      votes: { "agent2.1": 1 },
    },
    {
      name: "includes the valid vote of an agent whose round has ended",
      world: { agents: ["a", "b"] },
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("a"));
        world.does("b", says("hm"));
      },
      winner: "agent1.1",
      votes: { "agent1.1": 1 },
    },
  ];

  it.each(cases)("$name", ({ world: options, given, winner, votes: expected, tie = false }) => {
    const world = new World(options);
    world.ask();
    given(world);
    const tally = tallyVotes(world.turn.attempt);
    expect({ winner: tally.winner?.label ?? null, votes: tally.votes, tie: tally.tie }).toEqual({
      winner,
      votes: expected,
      tie,
    });
  });
});
