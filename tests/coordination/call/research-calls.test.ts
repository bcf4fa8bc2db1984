import { describe, expect, it } from "vitest";
import type { AgentRules, Budget, HostedToolRule } from "../../../src/protocol/team";
import {
  answers,
  decides,
  aVote,
  fails,
  rejects,
  says,
  tool,
  uses,
  used,
  votes,
} from "../builders";
import { allAnswer, table } from "../rule-table";
import { World, type WorldOptions } from "../world";

const search: HostedToolRule = {
  name: "web_search",
  max_uses: 4,
  usd_per_use: 0.01,
  tokens_per_use: 500,
};
/** The agent's provider runs hosted tools only in calls without functions. */
const hostedAlone: Partial<AgentRules> = { hosted_tools: [search], hosted_alone: true };
const team: WorldOptions = { agents: ["a", "b"], each: { a: hostedAlone } };

/** One line for each call of the agent: its offered functions, and the uses of hosted tools. */
const callsOf = (world: World, id: string): string[] =>
  world
    .events("call.started")
    .filter(({ agent }) => agent === id)
    .map(({ purpose, offers, hosted_tools = [] }) => {
      const uses = hosted_tools.map(({ name, max_uses }) => `${name}×${max_uses}`);
      return [purpose, [...offers, ...uses].join("+") || "nothing"].join(" ");
    });

const RESEARCH = "coordination web_search×4";

describe("a research call", () => {
  table([
    {
      name: "is the first call of a round if hosted tools cannot be mixed with functions",
      world: team,
      when: (world) => world.starts("a"),
      then: ["call.started a nothing"],
    },
    {
      name: "needs no decision, so the round continues without a reminder",
      world: team,
      when: (world) => world.does("a", says("The pass is open.")),
      then: ["call.completed a"],
      owes: ["call a", "call b"],
    },
    {
      name: "may have no result",
      world: team,
      when: (world) => world.does("a", says("")),
      then: ["call.completed a"],
      owes: ["call a", "call b"],
    },
    {
      name: "counts even if it is cut at its output limit, because it is no answer",
      world: team,
      when: (world) => world.does("a", says("The pass is", { stopReason: "length" })),
      then: ["call.completed a"],
      owes: ["call a", "call b"],
    },
    {
      name: "ignores calls of functions that were not offered",
      world: { ...team, each: { a: { ...hostedAlone, tools: [tool("read_file")] } } },
      when: (world) => world.does("a", uses(["read_file"], [aVote("b")])),
      then: ["call.completed a"],
      owes: ["call a", "call b"],
    },
    {
      name: "fails its round if the reply was withheld",
      world: team,
      when: (world) => world.does("a", says("", { stopReason: "content_filter" })),
      then: ["call.completed a", "round.failed a content_filter", "round.started a #2 failed []"],
      owes: ["call a", "call b"],
    },
    {
      name: "is retried like any other call",
      world: team,
      given: (world) => world.does("a", fails()),
      when: (world) => {
        world.now += 60_000;
        return world.starts("a");
      },
      then: ["call.started a nothing"],
    },
    {
      name: "logs its searches and citations before it completes",
      world: team,
      when: (world) =>
        world.does(
          "a",
          says("Open.", {
            hosted: [{ name: "web_search", input: "pass", outcome: "ok", output: "open" }],
            citations: [{ url: "https://a.example/", title: "A" }],
          }),
        ),
      then: ["hosted_tool.completed a", "citations.added a", "call.completed a"],
    },
    {
      name: "is followed by newer answers, before the agent decides",
      world: team,
      given: (world) => {
        world.does("a", says("notes"));
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", says("more notes")),
      then: ["call.completed a", "answers.injected a [agent2.2] message"],
      owes: ["call a", "call b"],
    },
  ]);

  it("is made once in each coordination round, and the later calls have functions only", () => {
    const world = new World(team);
    world.ask();
    world.does("a", says("notes"));
    world.does("a", says("hm"));
    allAnswer(world);
    world.does("a", says("notes"));
    world.does("a", votes("b"));
    expect(callsOf(world, "a")).toEqual([
      RESEARCH,
      "coordination new_answer",
      "coordination new_answer",
      RESEARCH,
      "coordination new_answer+vote",
    ]);
    expect(callsOf(world, "b")[0]).toBe("coordination new_answer");
  });

  it("is made again in the round after a failed round, but not in a round that a voided vote reopens", () => {
    const world = new World(team);
    world.ask();
    world.does("a", says("notes"));
    world.does("a", fails({ class: "quota" }));
    world.does("a", says("notes"));
    allAnswer(world);
    world.does("a", says("notes"));
    world.does("a", votes("b"));
    world.does("b", answers("B2"));
    world.starts("a");
    expect(callsOf(world, "a")).toEqual([
      RESEARCH,
      "coordination new_answer",
      RESEARCH,
      "coordination new_answer",
      RESEARCH,
      "coordination new_answer+vote",
      "coordination new_answer+vote",
    ]);
  });

  it("is not forced, and after a reminder the next call is forced as usual", () => {
    const world = new World(team);
    world.ask();
    world.does("a", says("notes"));
    world.does("a", says("hm"));
    world.starts("a");
    expect(world.events("call.started").map(({ forced }) => forced)).toEqual([false, false, true]);
  });

  it("is not needed for the presentation, which has hosted tools, nor for verdict and personas, which have none", () => {
    const world = new World({
      agents: ["a"],
      every: hostedAlone,
      rules: { personas: true, max_orchestration_restarts: 1 },
    });
    world.ask();
    world.does("a", says("no personas"));
    world.does("a", says("notes"));
    world.does("a", answers("A"));
    world.does("a", says("notes"));
    world.does("a", votes("a"));
    world.does("a", says("Final."));
    world.does("a", rejects("thin", "more"));
    expect(callsOf(world, "a")).toEqual([
      "personas assign_personas",
      RESEARCH,
      "coordination new_answer",
      RESEARCH,
      "coordination new_answer+vote",
      "presentation web_search×4",
      "judgement submit+restart_orchestration",
    ]);
  });

  it("is not made in a presentation, which has no hosted tools if it has functions", () => {
    const world = new World({
      agents: ["a"],
      every: { ...hostedAlone, tools: [tool("send")] },
      rules: { skip_coordination: true },
    });
    world.ask();
    world.starts("a");
    expect(callsOf(world, "a")).toEqual(["presentation nothing"]);
  });

  it.each<{ name: string; budget: Budget; first: string }>([
    {
      name: "gets fewer uses under a cap",
      budget: { max_tokens: 6_500 },
      first: "coordination web_search×2",
    },
    {
      name: "is omitted if no use can be paid",
      budget: { max_tokens: 5_000 },
      first: "coordination new_answer",
    },
    { name: "gets all uses if the cap allows it", budget: { max_cost_usd: 10 }, first: RESEARCH },
  ])("$name", ({ budget, first }) => {
    const world = new World({ ...team, budget });
    world.ask();
    world.starts("a");
    expect(callsOf(world, "a")).toEqual([first]);
  });

  it("is omitted if its tools have no known price under a cap in money", () => {
    const unpriced = { ...hostedAlone, hosted_tools: [{ ...search, usd_per_use: null }] };
    const world = new World({
      agents: ["a", "b"],
      each: { a: unpriced },
      budget: { max_cost_usd: 1 },
    });
    world.ask();
    world.starts("a");
    expect(callsOf(world, "a")).toEqual(["coordination new_answer"]);
  });

  it("is charged by its usage, and counts as a call of its round", () => {
    const world = new World(team);
    world.ask();
    world.does(
      "a",
      says("notes", { usage: { ...used(1_000, 100), hosted_uses: { web_search: 2 } } }),
    );
    expect(world.turn.spentUsd).toBeCloseTo(0.0212, 12);
    expect(world.agent("a").round).toMatchObject({ calls: 1, nudges: 0 });
  });

  it("is omitted under a low cap, and then a reply without a decision gets a reminder as usual", () => {
    const world = new World({ ...team, budget: { max_tokens: 5_000 } });
    world.ask();
    expect(world.does("a", decides([])).map(({ type }) => type)).toEqual([
      "call.completed",
      "round.nudged",
    ]);
  });
});
