import { describe, expect, it } from "vitest";
import {
  answers,
  changedNothing,
  fails,
  rejects,
  says,
  tool,
  used,
  uses,
  votes,
  wrote,
} from "../builders";
import { effectsPerTurn } from "../../../src/coordination/budget/budget";
import { allAnswer, giveLargeAnswers, SIX_AGENTS, table } from "../rule-table";
import { check } from "../../../checker";
import { eventLines } from "../event-lines";
import { World } from "../world";

const every = { tools: [tool("search")] };

describe("a cap", () => {
  table([
    {
      name: "of 20 rounds makes an agent abstain",
      world: {
        agents: ["a", "b"],
        rules: { max_new_answers_per_agent: 100, fairness_lead_cap_answers: null },
      },
      given: (world) => {
        allAnswer(world);
        for (let n = 2; n < 20; n += 1) world.does("a", answers(`A${n}`));
      },
      when: (world) => world.does("a", answers("A20")),
      then: ["call.completed a", "answer.submitted a agent1.20", "agent.abstained a round_cap"],
      owes: ["call b"],
    },
    {
      name: "of 20 rounds counts the fresh round of a full context",
      world: {
        agents: ["a", "b"],
        rules: { max_new_answers_per_agent: 100, fairness_lead_cap_answers: null },
        each: { a: { context_window: 1_000 } },
      },
      given: (world) => {
        allAnswer(world);
        for (let n = 2; n < 20; n += 1) world.does("a", answers(`A${n}`));
        world.starts("a");
        world.does("b", answers("B".repeat(500)));
      },
      when: (world) => world.does("a", says("hm", { usage: used(400, 400) })),
      then: ["call.completed a", "round.nudged a 1", "agent.abstained a round_cap"],
    },
  ]);
});

/** The part of the turn's effects that is reserved for the decisions of three agents. */
const KEPT = 9;

/**
 * The agents use up all but `left` of the turn's effects in turns: a call with 64 tools each time,
 * or an interrupted call.
 */
function useEffects(world: World, left: number): void {
  const spare = () => 1_200 - world.turn.effects - left;
  for (let n = 0; spare() > 0; n += 1) {
    const tools = Math.min(64, spare() - 1, spare() + left - 1 - KEPT);
    const id = world.ids[n % world.ids.length] ?? "";
    if (tools <= 0) {
      world.does(id, fails({ class: "interrupted", code: "interrupted" }));
      continue;
    }
    world.does(id, uses(Array.from({ length: tools }, () => "search")));
    for (let ran = 0; ran < tools; ran += 1) world.tool(id);
  }
}

it.each([
  [1, 1_000],
  [2, 1_000],
  [3, 1_200],
  [40, 16_000],
  [64, 16_000],
])("a turn of %i agents may start %i calls and tools", (agents, most) => {
  const world = new World({
    agents: Array.from({ length: agents }, (_, index) => `agent_${index}`),
  });
  world.ask();
  expect(effectsPerTurn(world.turn)).toBe(most);
});

it("the state of a running turn contains at most 8 MB of answers, and no answers of a rejected attempt (I16)", () => {
  const MB = 1024 * 1024;
  const world = new World({
    ...SIX_AGENTS,
    rules: { ...SIX_AGENTS.rules, max_orchestration_restarts: 1 },
  });
  const size = () => JSON.stringify(world.state).length;
  world.ask();
  giveLargeAnswers(world, 64);
  for (const id of world.ids) world.does(id, answers(id.padEnd(128 * 1024, "z")));
  expect(size()).toBeLessThan(8.25 * MB);
  for (const id of world.ids) world.does(id, votes("a"));
  world.does("a", says("The final text."));
  world.does("a", rejects("No.", "Again."));
  expect(world.turn.attempt.number).toBe(2);
  expect(size()).toBeLessThan(MB);
});

describe("the cap of effects per turn, 400 for each of three agents", () => {
  it("admits effects up to the cap, and ends the turn with the existing answers", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, 1);
    expect(world.turn.attempt.settled).toBeNull();
    world.does("a", says("hm"));
    expect(world.turn.effects).toBe(1_200);
    expect(world.events("agent.abstained").map(({ agent, code }) => `${agent} ${code}`)).toEqual([
      "b effect_cap",
      "c effect_cap",
      "a effect_cap",
    ]);
    expect(world.events("attempt.settled")).toMatchObject([{ ended_by: "no_agents", winner: "c" }]);
    expect(world.owes()).toEqual(["call c"]);
  });

  it("is named in the message of an agent that may start nothing more", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, 1);
    world.does("a", says("hm"));
    const messages = world.events("agent.abstained").map(({ message }) => message);
    expect(new Set(messages)).toEqual(new Set(["The turn used up its 1200 calls and tools."]));
  });

  it("refuses the last tools above it, and waits for the running ones", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, KEPT + 3);
    world.does("a", uses(["search", "search", "search", "search"]));
    expect(
      world.events("tool.completed").filter(({ outcome }) => outcome === "refused"),
    ).toHaveLength(2);
    expect(world.agent("a").abstained).toBeNull();
    expect(world.owes()).toEqual(["tool a search", "tool a search", "call b", "call c"]);
    world.tool("a");
    world.tool("a");
    expect(world.turn.effects).toBe(1_200 - KEPT);
  });

  it("does not repeat a tool that a restart interrupted at the cap, even if it is safe", () => {
    const world = new World({ every: { tools: [tool("search", { idempotent: true })] } });
    world.ask();
    allAnswer(world);
    useEffects(world, KEPT + 3);
    world.does("a", uses(["search", "search"]));
    world.startsTool("a");
    expect(eventLines(world.interrupt())).toContain("tool.unknown a search");
    world.tool("a");
    expect(world.turn.effects).toBe(1_200 - KEPT);
  });

  it("allows no personas for an attempt that cannot work", () => {
    const world = new World({ every, rules: { personas: true, max_orchestration_restarts: 1 } });
    world.ask();
    world.does("a", says("no personas"));
    allAnswer(world);
    useEffects(world, 1);
    world.does("a", says("hm"));
    world.does("c", says("The final text."));
    const events = eventLines(world.does("c", rejects("No.", "Again.")));
    expect(events).toContain("attempt.restarted c");
    expect(events).toContain("personas.assigned");
    expect(world.ending).toMatchObject({ type: "turn.completed", answer: "The final text." });
  });

  it("does not use text from before the attempt as an answer", () => {
    const world = new World({
      every: { ...every, workspace: true },
      rules: { max_orchestration_restarts: 1 },
    });
    world.ask();
    allAnswer(world);
    useEffects(world, 1);
    world.does("a", says("hm"));
    world.does("c", says("The final text."));
    world.writing = { c: "The final text." };
    world.files = changedNothing();
    const events = eventLines(world.does("c", rejects("No.", "Again.")));
    expect(events).toContain("attempt.restarted c");
    expect(events).toContain("agent.failed c effect_cap");
    expect(world.ending).toMatchObject({ type: "turn.completed", answer: "The final text." });
  });

  it("adds the lost round's files to a partial text if the round keeps their changes (D3)", () => {
    const world = new World({ every: { ...every, workspace: true } });
    world.ask();
    useEffects(world, 1);
    world.writing = { a: "so far" };
    const events = eventLines(world.does("a", fails({ class: "quota", code: "quota" }), wrote(3)));
    expect(events).toEqual(
      expect.arrayContaining([
        "round.failed a quota",
        "answer.submitted a agent1.1 partial with agent1.1",
      ]),
    );
  });

  it("lets the presenter write only its final text", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, 1);
    world.does("a", says("hm"));
    expect(eventLines(world.starts("c"))).toEqual(["call.started c nothing 0 calls left"]);
    world.does("c", says("The final text."));
    expect(world.ending).toMatchObject({ type: "turn.completed", answer: "The final text." });
  });

  it("falls back to the winning answer if the presenter then writes no text", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, 1);
    world.does("a", says("hm"));
    expect(eventLines(world.does("c", uses(["search"])))).toContain(
      "presentation.completed c agent3.final answer effect_cap",
    );
  });
});

/** Errors that the independent checker finds in the limits that calls state. */
const limitsTold = ({ log }: World) =>
  check(
    log.map((event, index) => ({ ...event, sequence_number: index + 1 })),
    { finished: false },
  ).filter(({ invariant }) => invariant === "round-limits");

describe("near the cap of effects (D3)", () => {
  const files = { ...every, workspace: true };

  it.each([
    { left: 3 * 6 + 1, says: "call.started a new_answer|vote" },
    { left: 3 * 6, says: "call.started a new_answer|vote 3 calls left" },
    { left: 1, says: "call.started a new_answer|vote 1 calls left" },
    { left: 0, says: "call.started a new_answer|vote forced 0 calls left" },
  ])(
    "with $left more than are reserved for decisions, a call after a tool says: $says",
    ({ left, says: said }) => {
      const world = new World({ every });
      world.ask();
      allAnswer(world);
      useEffects(world, KEPT + left);
      expect(eventLines(world.starts("a"))).toEqual([said]);
      expect(limitsTold(world)).toEqual([]);
    },
  );

  it("a team whose agents all decide on request settles by votes", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, KEPT);
    for (const id of world.ids) world.does(id, votes("b"));
    expect(world.events("attempt.settled")).toMatchObject([
      { ended_by: "consensus", winner: "b", tally: { "agent2.1": 3 } },
    ]);
    expect(limitsTold(world)).toEqual([]);
  });

  it("an agent without a decision gets a message that calls for decisions were left", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, KEPT);
    world.does("a", says("hm"));
    expect(world.events("agent.abstained")).toMatchObject([
      {
        agent: "a",
        message: "The turn used up its 1200 calls and tools, except those kept for decisions.",
      },
    ]);
  });

  it("text and files of an agent without an answer become its answer, and it may still vote", () => {
    const world = new World({ every: files });
    world.ask();
    useEffects(world, KEPT);
    world.does("b", answers("B"));
    world.does("c", answers("C"));
    world.writing = { a: "so far" };
    world.files = wrote(1, { written: ["index.html"] });
    expect(eventLines(world.does("a", says("hm")))).toEqual(
      expect.arrayContaining([
        "answer.submitted a agent1.1 partial with agent1.1",
        "round.started a #2 answered [agent1.1 agent2.1 agent3.1]",
      ]),
    );
    expect(eventLines(world.does("a", votes("b")))).toContain("vote.cast a agent2.1");
  });

  it("a single agent presents its text, complete or partial, with its files", () => {
    const world = new World({
      agents: ["a"],
      every: files,
      rules: { skip_coordination: true, max_calls_per_round: 10_000 },
    });
    world.ask();
    while (1_000 - 3 - world.turn.effects > 1) {
      const tools = Math.min(64, 1_000 - 3 - world.turn.effects - 1);
      world.does("a", uses(Array.from({ length: tools }, () => "search")));
      for (let ran = 0; ran < tools; ran += 1) world.tool("a");
    }
    expect(world.turn.effects).toBe(997);
    world.files = wrote(1, { written: ["index.html"] });
    expect(eventLines(world.does("a", uses(["search"])))).toContain(
      "presentation.completed a agent1.final partial effect_cap",
    );
    expect(world.events("presentation.completed")).toMatchObject([{ snapshot: "agent1.final" }]);
  });
});
