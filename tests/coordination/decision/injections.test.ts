import { describe, expect, it } from "vitest";
import { answers, says, tool, used, uses, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const every = { tools: [tool("search")] };

describe("an injection", () => {
  table([
    {
      name: "is sent with a tool result, before the next call of the round",
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
      name: "waits until every tool call of the reply has a result",
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
      name: "contains each author's newest unseen answer, and no answer that the agent has seen",
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
      name: "is omitted if there is no new answer",
      world: { every },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
    },
    {
      name: "is never sent to an agent that has not answered yet",
      world: { every },
      given: (world) => {
        world.does("b", answers("B"));
        world.does("a", uses(["search"]));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
    },
    {
      name: "is sent with tool results at most max_midstream_injections_per_round times per round",
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
      name: "is sent neither with a tool result nor after a reply without a decision, with disable_injection",
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
      name: "is sent with the result of a stale vote, also with disable_injection",
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
      name: "beyond this maximum is sent after the next reply without a decision",
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
      name: "beyond this maximum is sent with the result of a vote, which is stale",
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
      name: "that would fill more than 75 % of the context window is replaced by a new round, and the old round does not count as failed",
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
      name: "that fills exactly 75 % of the context window is sent",
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

  it("marks the answer as seen: a later vote counts, and a copy of the answer is refused", () => {
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
