import { describe, expect, it } from "vitest";
import { overridesRefusal } from "../../../src/coordination";
import type { AgentRules, TeamRules } from "../../../src/protocol/team";
import { type Overrides, rulesOfTurn } from "../../../src/protocol/turn-team";
import { agentRules, answers, says, teamRules, votes } from "../builders";
import { World } from "../world";

const session = teamRules(["a", "b", "c"].map((id) => agentRules(id)));
const another = teamRules(["x", "y"].map((id) => agentRules(id)));
const single = teamRules([agentRules("a")]);
const biggerModel = agentRules("b", { model: "bigger", context_window: 1_000_000, price: null });

type Expectation = Partial<Omit<TeamRules, "agents">> & { agents?: Partial<AgentRules>[] };
type Row = {
  name: string;
  team?: TeamRules;
  overrides?: Overrides;
  replaced?: AgentRules[];
  expected: Expectation;
};

const ROWS: Row[] = [
  {
    name: "is the session's team without other rules",
    expected: { agents: [{ id: "a" }, { id: "b" }, { id: "c" }] },
  },
  {
    name: "is another team if the turn brings one",
    team: another,
    expected: { agents: [{ id: "x" }, { id: "y" }] },
  },
  {
    name: "has only the chosen agents, in the team's order and with its numbers",
    overrides: { agents: ["c", "b"] },
    expected: {
      agents: [
        { id: "b", number: 2 },
        { id: "c", number: 3 },
      ],
      skip_coordination: false,
    },
  },
  {
    name: "starts with the presentation if one agent of several remains",
    overrides: { agents: ["c"] },
    expected: { agents: [{ id: "c", number: 3 }], skip_coordination: true },
  },
  {
    name: "coordinates with one agent of several if the overrides say so",
    overrides: { agents: ["c"], skip_coordination: false },
    expected: { skip_coordination: false },
  },
  {
    name: "coordinates with the only agent of a team as the team says",
    team: single,
    overrides: { agents: ["a"] },
    expected: { skip_coordination: false },
  },
  {
    name: "has the facts of another model, and the same agents",
    overrides: { models: { b: "bigger" } },
    replaced: [biggerModel],
    expected: {
      agents: [
        { model: "model-of-a" },
        { id: "b", model: "bigger", context_window: 1_000_000, price: null },
        { model: "model-of-c" },
      ],
    },
  },
  {
    name: "has another number of answers",
    overrides: { max_new_answers_per_agent: 2 },
    expected: { max_new_answers_per_agent: 2, defer_voting_until_all_answered: false },
  },
  {
    name: "answers once and then votes if it is quick",
    overrides: { quick: true },
    expected: { max_new_answers_per_agent: 1, defer_voting_until_all_answered: true },
  },
  {
    name: "keeps its number of answers if it is not quick",
    overrides: { quick: false },
    expected: { max_new_answers_per_agent: 5, defer_voting_until_all_answered: false },
  },
  { name: "has personas", overrides: { personas: true }, expected: { personas: true } },
  {
    name: "has no coordination",
    overrides: { skip_coordination: true },
    expected: { skip_coordination: true },
  },
];

describe("the team of a turn", () => {
  it.each(ROWS)("$name", ({ team, overrides, replaced, expected }) => {
    const rules = rulesOfTurn(session, { rules: team, overrides, overridden_agents: replaced });
    expect(rules).toMatchObject(expected);
  });
});

describe("overrides of a team", () => {
  it.each<{ name: string; overrides: Overrides; refusal: object | null }>([
    { name: "apply if they name no agents", overrides: { quick: true }, refusal: null },
    {
      name: "apply if each agent they name takes part",
      overrides: { agents: ["a"], models: { a: "bigger" } },
      refusal: null,
    },
    {
      name: "apply with a number of answers if they are not quick",
      overrides: { quick: false, max_new_answers_per_agent: 2 },
      refusal: null,
    },
    {
      name: "are refused if they are quick and have a number of answers",
      overrides: { quick: true, max_new_answers_per_agent: 1 },
      refusal: { ok: false, code: "quick_and_max_answers" },
    },
    {
      name: "are refused if no agent takes part",
      overrides: { agents: [] },
      refusal: { ok: false, code: "no_agents" },
    },
    {
      name: "are refused if the team lacks agents they name",
      overrides: { agents: ["a", "z"], models: { y: "bigger" } },
      refusal: { ok: false, code: "unknown_agents", agents: ["z", "y"] },
    },
    {
      name: "are refused if an agent that does not take part gets another model",
      overrides: { agents: ["a"], models: { b: "bigger" } },
      refusal: { ok: false, code: "left_out_agents", agents: ["b"] },
    },
  ])("$name", ({ overrides, refusal }) => {
    expect(overridesRefusal(session, overrides)).toEqual(refusal);
  });
});

type Question = Parameters<World["ask"]>[1];

/** The session's second turn, started with this team. */
function secondTurn(asked: Question): World {
  const world = new World({ agents: ["a", "b", "c"] });
  const agree = [answers("The river."), votes("a")];
  world.play({ a: agree, b: agree, c: agree });
  world.ask("And now?", asked);
  return world;
}

describe("a turn with another team", () => {
  it("is played by that team", () => {
    const world = secondTurn({ rules: another });
    expect(world.turn.attempt.agents.map(({ id }) => id)).toEqual(["x", "y"]);
    expect(world.events("turn.started").map(({ rules }) => rules?.agents.length)).toEqual([
      undefined,
      2,
    ]);
    expect(world.state.rules).toEqual(world.rules);
  });

  it("does not store the session's team again", () => {
    const world = secondTurn({ rules: structuredClone(session) });
    expect(world.events("turn.started").at(-1)).not.toHaveProperty("rules");
  });

  it("keeps the numbers of the whole team in its labels", () => {
    const world = secondTurn({ overrides: { agents: ["b", "c"] } });
    world.ids.splice(0, 3, "b", "c");
    world.play({
      b: { coordination: [answers("The road."), votes("c")], presentation: [says("Road.")] },
      c: { coordination: [answers("The hill."), votes("c")], presentation: [says("Hill.")] },
    });
    const labels = world.events("answer.submitted").filter(({ turn }) => turn === 2);
    expect(labels.map(({ agent, label }) => [agent, label]).sort()).toEqual([
      ["b", "agent2.1"],
      ["c", "agent3.1"],
    ]);
    expect(world.events("turn.completed").at(-1)?.label).toBe("agent3.final");
  });

  it("uses its overrides for itself alone", () => {
    const world = secondTurn({ overrides: { agents: ["c"] } });
    world.ids.splice(0, 3, "c");
    world.play({ c: { presentation: [says("Hill.")] } });
    world.ids.splice(0, 1, "a", "b", "c");
    world.ask();
    expect(world.turn.rules).toEqual(session);
  });

  it("also has its overrides in the first turn of a session", () => {
    const world = new World({ agents: ["a", "b", "c"] });
    world.ask("Which way?", { overrides: { quick: true } });
    expect(world.state.rules).toEqual(session);
    expect(world.turn.rules.max_new_answers_per_agent).toBe(1);
  });
});
