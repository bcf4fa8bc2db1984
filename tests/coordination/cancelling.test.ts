import { describe, expect, it } from "vitest";
import { cancel, says, tool, used, uses, votes } from "./builders";
import { allAnswer, table } from "./table";
import { tell } from "./telling";
import { World } from "./world";

const two = { agents: ["a", "b"] };

/** Both vote for `a`, which begins to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("cancelling", () => {
  table([
    {
      name: "before anything was written leaves nothing",
      given: (world) => world.starts("a"),
      when: (world) => world.give(cancel),
      then: ["call.failed a cancelled final", "attempt.settled cancelled - -", "turn.cancelled - - -"],
      owes: [],
    },
    {
      name: "in the first answers leaves the longest text that was written",
      given: (world) => {
        world.writing = { a: "short", b: "a longer text" };
      },
      when: (world) => world.give(cancel),
      then: ["attempt.settled cancelled - -", "turn.cancelled - - a longer text"],
    },
    {
      name: "while the team coordinates leaves the answer that leads",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.starts("c");
      },
      when: (world) => world.give(cancel),
      then: ["call.failed c cancelled final", "attempt.settled cancelled b agent2.1 agent2.1:1", "turn.cancelled b B -"],
      owes: [],
    },
    {
      name: "in the presentation leaves the winning answer and the text so far",
      world: two,
      given: (world) => {
        presenting(world);
        world.starts("a");
        world.writing = { a: "The fin" };
      },
      when: (world) => world.give(cancel),
      then: ["call.failed a cancelled final", "turn.cancelled a A The fin"],
      owes: [],
    },
    {
      name: "while the verdict is awaited leaves the whole final text",
      world: { ...two, rules: { max_orchestration_restarts: 1 } },
      given: (world) => {
        presenting(world);
        world.does("a", says("The final text."));
        world.starts("a");
      },
      when: (world) => world.give(cancel),
      then: ["call.failed a cancelled final", "turn.cancelled a A The final text."],
    },
    {
      name: "while personas are written leaves nothing",
      world: { rules: { personas: true } },
      given: (world) => {
        world.starts("a");
        world.writing = { a: "You are a sceptic" };
      },
      when: (world) => world.give(cancel),
      then: ["call.failed a cancelled final", "attempt.settled cancelled - -", "turn.cancelled - - -"],
    },
    {
      name: "with tools running leaves their outcome unknown",
      world: { ...two, every: { tools: [tool("search")] } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.startsTool("a");
      },
      when: (world) => world.give(cancel),
      then: ["tool.unknown a search", "attempt.settled cancelled b agent2.1", "turn.cancelled b B -"],
    },
    {
      name: "twice is the same as once",
      given: (world) => world.give(cancel),
      when: (world) => world.give(cancel),
      then: [],
    },
    {
      name: "after the end changes nothing",
      world: two,
      given: (world) => {
        presenting(world);
        world.does("a", says("The final text."));
      },
      when: (world) => world.give(cancel),
      then: [],
    },
  ]);

  it("charges a call in flight what it has reported, else what it reserved", () => {
    const world = new World();
    world.ask();
    world.starts("a");
    world.starts("b");
    world.reported = { [world.callOf("a")]: used(100, 20) };
    world.give(cancel);
    expect(world.events("call.failed").map(({ agent, tokens }) => [agent, tokens])).toEqual([
      ["a", 120],
      ["b", 5_000],
    ]);
    expect(world.ending).toMatchObject({
      usage: { input_tokens: 100, output_tokens: 20 },
      cost_usd: expect.closeTo(0.009_14, 9),
    });
  });

  it("leaves the session free for its next turn, which repeats nothing of the one before", () => {
    const world = new World(two);
    world.ask();
    allAnswer(world);
    world.give(cancel);
    expect(tell(world.ask())).toEqual([
      "turn.started",
      "attempt.started 1",
      "round.started a #1 first []",
      "round.started b #1 first []",
    ]);
    expect(world.turn).toMatchObject({ number: 2, spentTokens: 0, effects: 0 });
  });
});
