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
      name: "of 20 rounds also counts a new round that a full context window needs",
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
const RESERVED_EFFECTS = 9;

/**
 * The agents use the turn's effects until `remaining` effects are left. They take turns: each makes
 * a call with at most 64 tools, or a call that is interrupted.
 */
function useEffects(world: World, remaining: number): void {
  const toUse = () => 1_200 - world.turn.effects - remaining;
  for (let n = 0; toUse() > 0; n += 1) {
    const tools = Math.min(64, toUse() - 1, toUse() + remaining - 1 - RESERVED_EFFECTS);
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
])("a turn of %i agents may start %i calls and tools", (agents, maxEffects) => {
  const world = new World({
    agents: Array.from({ length: agents }, (_, index) => `agent_${index}`),
  });
  world.ask();
  expect(effectsPerTurn(world.turn)).toBe(maxEffects);
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

describe("the cap on a turn's effects, which is 400 for each of three agents", () => {
  it("allows exactly that many effects, and ends the turn with the existing answers", () => {
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

  it("is named in the message of an agent that may start no more effects", () => {
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
    useEffects(world, RESERVED_EFFECTS + 3);
    world.does("a", uses(["search", "search", "search", "search"]));
    expect(
      world.events("tool.completed").filter(({ outcome }) => outcome === "refused"),
    ).toHaveLength(2);
    expect(world.agent("a").abstained).toBeNull();
    expect(world.owes()).toEqual(["tool a search", "tool a search", "call b", "call c"]);
    world.tool("a");
    world.tool("a");
    expect(world.turn.effects).toBe(1_200 - RESERVED_EFFECTS);
  });

  it("does not repeat a tool that a restart interrupted at the cap, even if the tool is safe to repeat", () => {
    const world = new World({ every: { tools: [tool("search", { idempotent: true })] } });
    world.ask();
    allAnswer(world);
    useEffects(world, RESERVED_EFFECTS + 3);
    world.does("a", uses(["search", "search"]));
    world.startsTool("a");
    expect(eventLines(world.interrupt())).toContain("tool.unknown a search");
    world.tool("a");
    expect(world.turn.effects).toBe(1_200 - RESERVED_EFFECTS);
  });

  it("allows no persona call in an attempt that may start no effects", () => {
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

  it("adds the failed round's files to the partial text that becomes the answer (D3)", () => {
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

/** Errors that the independent checker finds in the limits that calls contain. */
const limitErrors = ({ log }: World) =>
  check(
    log.map((event, index) => ({ ...event, sequence_number: index + 1 })),
    { finished: false },
  ).filter(({ invariant }) => invariant === "round-limits");

describe("near the cap of effects (D3)", () => {
  const files = { ...every, workspace: true };

  it.each([
    { left: 3 * 6 + 1, line: "call.started a new_answer|vote" },
    { left: 3 * 6, line: "call.started a new_answer|vote 3 calls left" },
    { left: 1, line: "call.started a new_answer|vote 1 calls left" },
    { left: 0, line: "call.started a new_answer|vote forced 0 calls left" },
  ])(
    "with $left effects left, besides those reserved for decisions, the next call is: $line",
    ({ left, line }) => {
      const world = new World({ every });
      world.ask();
      allAnswer(world);
      useEffects(world, RESERVED_EFFECTS + left);
      expect(eventLines(world.starts("a"))).toEqual([line]);
      expect(limitErrors(world)).toEqual([]);
    },
  );

  it("a team ends by consensus if all its agents vote when they are asked for a decision", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, RESERVED_EFFECTS);
    for (const id of world.ids) world.does(id, votes("b"));
    expect(world.events("attempt.settled")).toMatchObject([
      { ended_by: "consensus", winner: "b", tally: { "agent2.1": 3 } },
    ]);
    expect(limitErrors(world)).toEqual([]);
  });

  it("the message of an agent without a decision says that effects were kept for decisions", () => {
    const world = new World({ every });
    world.ask();
    allAnswer(world);
    useEffects(world, RESERVED_EFFECTS);
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
    useEffects(world, RESERVED_EFFECTS);
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
