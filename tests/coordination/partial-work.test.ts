import { describe, expect, it } from "vitest";
import {
  answers,
  changedNothing,
  fails,
  rejects,
  says,
  tool,
  used as usageOf,
  uses,
  votes,
  wrote,
} from "./builders";
import { participantsOfTurn } from "../../src/protocol/view/participation";
import { apply, emptyView, turnOf } from "../../src/protocol/view";
import { allAnswer, table } from "./rule-table";
import { eventLines } from "./event-lines";
import { World, type WorldOptions } from "./world";

const search = { tools: [tool("search")] };
const files = { ...search, workspace: true };

describe("a failed round (D3)", () => {
  const world: WorldOptions = { agents: ["a", "b"], every: files };
  const failsRound = fails({ class: "quota", code: "quota" });
  table([
    {
      name: "passes its files to the next round",
      world,
      when: (at) => at.does("a", failsRound),
      then: [
        "call.failed a quota final",
        "round.failed a quota",
        "round.started a #2 failed [] carries #1",
      ],
    },
    {
      name: "passes no files if the agent has answered",
      world,
      given: allAnswer,
      when: (at) => at.does("a", failsRound),
      then: [
        "call.failed a quota final",
        "round.failed a quota",
        "round.started a #3 failed [agent1.1 agent2.1]",
      ],
    },
    {
      name: "passes no files if the agent has no workspace",
      world: { agents: ["a", "b"] },
      when: (at) => at.does("a", failsRound),
      then: ["call.failed a quota final", "round.failed a quota", "round.started a #2 failed []"],
    },
    {
      name: "that is the third in a row makes the agent's text and files its answer",
      world,
      given: (at) => {
        at.does("a", failsRound);
        at.does("a", failsRound);
        at.files = wrote(1, { written: ["index.html"] });
      },
      when: (at) => at.does("a", failsRound),
      then: [
        "call.failed a quota final",
        "round.failed a quota",
        "answer.submitted a agent1.1 partial with agent1.1",
        "agent.failed a quota",
      ],
    },
    {
      name: "that is the third in a row makes the agent's text its answer if there are no files",
      world: { agents: ["a", "b"] },
      given: (at) => {
        at.does("a", failsRound);
        at.does("a", failsRound);
        at.writing = { a: "so far" };
      },
      when: (at) => at.does("a", failsRound),
      then: [
        "call.failed a quota final",
        "round.failed a quota",
        "answer.submitted a agent1.1 partial",
        "agent.failed a quota",
      ],
    },
  ]);
});

describe("a text that the provider withheld", () => {
  const withheld = fails({ class: "content_filter", code: "content_filter" });
  table([
    {
      name: "does not become the answer of a failed agent",
      world: { agents: ["a", "b"] },
      given: (at) => {
        at.writing = { a: "so far" };
        for (let round = 0; round < 2; round += 1) at.does("a", withheld);
      },
      when: (at) => at.does("a", withheld),
      then: [
        "call.failed a content_filter final",
        "round.failed a content_filter",
        "agent.failed a content_filter",
      ],
    },
  ]);
});

describe("an agent that fails at once (D3)", () => {
  table(
    (["bad_credentials", "unknown_model"] as const).map((code) => ({
      name: `with ${code} has its partial text as its answer`,
      world: { agents: ["a", "b"] },
      given: (at: World) => {
        at.writing = { a: "so far" };
      },
      when: (at: World) => at.does("a", fails({ class: code, code })),
      then: [
        `call.failed a ${code} final`,
        "answer.submitted a agent1.1 partial",
        `agent.failed a ${code}`,
      ],
    })),
  );
});

/** The agents that the turn's view names as dropped out, each with the code of the reason. */
function droppedOut({ log }: World): string[] {
  const events = log.map((event, index) => ({
    ...event,
    sequence_number: index + 1,
    session_id: "session_1",
  }));
  const turn = turnOf(events.reduce(apply, emptyView()));
  return turn
    ? participantsOfTurn(turn).flatMap(({ agent, error }) =>
        error ? [`${agent} ${error.code}`] : [],
      )
    : [];
}

describe("at the end of coordination (D3)", () => {
  const untimed: WorldOptions = {
    agents: ["a", "b"],
    every: files,
    rules: { initial_round_timeout_ms: null },
  };

  it("an agent with files wins over an agent with more text if no answer is complete", () => {
    const world = new World(untimed);
    world.ask();
    world.writing = { a: "A text that is longer than the sentence about files. ".repeat(10) };
    world.filesByAgent = { 0: changedNothing(), 1: wrote(1, { written: ["index.html"] }) };
    world.wait(880_000);
    expect(world.events("attempt.settled")).toMatchObject([{ winner: "b" }]);
  });

  it("text and files of an agent without an answer become its answer, and votes stay valid", () => {
    const world = new World({ ...untimed, agents: ["a", "b", "c"] });
    world.ask();
    world.does("a", answers("A"));
    world.does("b", answers("B"));
    world.wait(600_000);
    world.does("b", votes("a"));
    world.writing = { c: "so far" };
    world.filesByAgent = { 2: wrote(1, { written: ["index.html"] }) };
    expect(eventLines(world.wait(280_000))).toEqual([
      "answer.submitted c agent3.1 partial with agent3.1",
      "attempt.settled deadline a agent1.1 agent1.1:1",
      "presentation.started a agent1.1 from agent1.1",
    ]);
    expect(droppedOut(world)).toEqual(["c deadline"]);
  });

  it("text and files also become an answer after a rejected attempt in which another agent answered", () => {
    const world = new World({
      ...untimed,
      rules: { ...untimed.rules, max_orchestration_restarts: 1 },
    });
    world.ask();
    allAnswer(world);
    for (const id of ["a", "b"]) world.does(id, votes("a"));
    world.does("a", says("First final."));
    world.does("a", rejects("It misses the point.", "Answer the question."));
    world.does("a", answers("Better"));
    world.wait(600_000);
    world.writing = { b: "so far" };
    world.filesByAgent = { 1: wrote(1, { written: ["index.html"] }) };
    expect(eventLines(world.wait(280_000))).toEqual([
      "answer.submitted b agent2.1 partial with agent2.1",
      "attempt.settled deadline a agent1.1",
      "presentation.started a agent1.1 from agent1.1",
    ]);
  });

  it("text and files also become an answer when the budget is used up", () => {
    const world = new World({ ...untimed, budget: { max_tokens: 5_000 } });
    world.ask();
    world.does("a", answers("A", { usage: usageOf(1_000, 3_500) }));
    world.writing = { b: "so far" };
    expect(eventLines(world.starts("b"))).toEqual([
      "call.deferred b",
      "answer.submitted b agent2.1 partial with agent2.1",
      "attempt.settled budget a agent1.1",
      "presentation.started a agent1.1 from agent1.1",
    ]);
    expect(droppedOut(world)).toEqual(["b budget"]);
  });

  it("an agent that gave its partial answer earlier is not reported as stopped by the deadline", () => {
    const world = new World({
      ...untimed,
      agents: ["a", "b", "c"],
      rules: { ...untimed.rules, max_calls_per_round: 1, defer_voting_until_all_answered: true },
    });
    world.ask();
    world.writing = { a: "so far" };
    world.does("a", uses(["search"]));
    world.tool("a");
    expect(eventLines(world.does("a", says("hm")))).toContain(
      "answer.submitted a agent1.1 partial with agent1.1",
    );
    world.does("b", answers("B"));
    world.wait(880_000);
    expect(world.events("attempt.settled")).toMatchObject([{ ended_by: "deadline", winner: "b" }]);
    expect(droppedOut(world)).toEqual(["c deadline"]);
  });
});
