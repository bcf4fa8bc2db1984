import { describe, expect, it } from "vitest";
import { answers, says, tool, used, uses, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const every = { tools: [tool("search")] };

describe("an injection", () => {
  table([
    {
      name: "comes with a tool result, before the next call of the round",
      world: { every },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.startsTool("a");
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok", "answers.injected a [agent2.2] tool_result"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "waits until all tools of the reply have their results",
      world: { every },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search", "search"]));
        world.does("b", answers("B2"));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
    },
    {
      name: "contains each author's newest unseen answer, and no answer that was shown before",
      world: { every },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.does("b", answers("B3"));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok", "answers.injected a [agent2.3] tool_result"],
    },
    {
      name: "is not made without new answers",
      world: { every },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
    },
    {
      name: "never reaches an agent without an answer",
      world: { every },
      given: (world) => {
        world.does("b", answers("B"));
        world.does("a", uses(["search"]));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
    },
    {
      name: "comes with tool results only a limited number of times per round",
      world: { every, rules: { max_midstream_injections_per_round: 1 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
        world.does("a", uses(["search"]));
        world.does("b", answers("B3"));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
    },
    {
      name: "does not come with a tool result or an undecided reply if agents work undisturbed",
      world: { every, rules: { disable_injection: true } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
      },
      when: (world) => [...world.tool("a"), ...world.does("a", says("hm"))],
      then: ["tool.completed a search ok", "call.completed a", "round.nudged a 1"],
    },
    {
      name: "still comes with a vote that needs it if agents work undisturbed",
      world: { every, rules: { disable_injection: true } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      when: (world) => world.does("a", votes("b")),
      then: [
        "call.completed a",
        "vote.stale a agent2.2 missing agent2.2",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "that was held back comes at the end of a reply that does not decide",
      world: { every, rules: { max_midstream_injections_per_round: 0 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      when: (world) => world.does("a", says("hm")),
      then: ["call.completed a", "round.nudged a 1", "answers.injected a [agent2.2] message"],
    },
    {
      name: "that was held back makes a vote stale",
      world: { every, rules: { max_midstream_injections_per_round: 0 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      when: (world) => world.does("a", votes("b")),
      then: [
        "call.completed a",
        "vote.stale a agent2.2 missing agent2.2",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "that would fill the window starts a fresh round instead, which is no failure",
      world: { each: { a: { context_window: 1_000 } } },
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("x".repeat(601)));
      },
      when: (world) => world.does("a", says("hm", { usage: used(100, 50) })),
      then: [
        "call.completed a",
        "round.nudged a 1",
        "round.started a #3 context_full [agent1.1 agent2.2 agent3.1]",
      ],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "that just fits is shown",
      world: { each: { a: { context_window: 1_000 } } },
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("x".repeat(600)));
      },
      when: (world) => world.does("a", says("hm", { usage: used(100, 50) })),
      then: ["call.completed a", "round.nudged a 1", "answers.injected a [agent2.2] message"],
    },
  ]);

  it("makes an answer known: a vote counts after it, and repeating the answer is refused", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    world.does("a", uses(["search"]));
    world.does("b", answers("B2"));
    expect(world.agent("a").seen).toBe(3);
    world.tool("a");
    expect(world.agent("a").seen).toBe(4);
    world.does("a", answers("B2"));
    expect(world.events("answer.refused")).toHaveLength(1);
    world.does("a", votes("b"));
    expect(world.events("vote.cast")).toHaveLength(1);
  });
});
