import { describe, expect, it } from "vitest";
import type { EventOf } from "../../src/protocol/events";
import {
  answers,
  anAnswer,
  aVote,
  decides,
  fails,
  hangs,
  improves,
  rejects,
  says,
  slowly,
  tool,
  used,
  uses,
  votes,
} from "./builders";
import { allAnswer } from "./rule-table";
import { eventLines } from "./event-lines";
import { START, World } from "./world";

/** Whole turns, from the question to the end. `play` throws if the turn does not end. */

const settled = (world: World): EventOf<"attempt.settled"> | undefined =>
  world.events("attempt.settled").at(-1);
const answersOf = (world: World, id: string): number =>
  world.events("answer.submitted").filter(({ agent }) => agent === id).length;

describe("a team", () => {
  it("of two agents that always improve their answers ends by a vote at the answer limits", () => {
    const world = new World({ agents: ["a", "b"] });
    const moves = [improves, improves, improves, improves, improves, improves, votes("b")];
    world.play({ a: [...moves], b: [...moves] });
    expect([answersOf(world, "a"), answersOf(world, "b")]).toEqual([5, 5]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", winner: "b", label: "agent2.5" });
  });

  it("of two agents that never vote, not even at the limits, ends with an answer", () => {
    const world = new World({ agents: ["a", "b"], rules: { orchestrator_timeout_ms: 10_000_000 } });
    world.play({ a: [improves], b: [improves] });
    expect(world.events("agent.abstained").map(({ code }) => code)).toEqual([
      "call_cap",
      "call_cap",
    ]);
    expect(settled(world)).toMatchObject({ ended_by: "no_agents" });
    expect(world.ending.type).toBe("turn.completed");
  });

  it("whose agents voted before a late first answer votes again after it", () => {
    const world = new World();
    world.play({
      a: [answers("A"), votes("b"), votes("c")],
      b: [answers("B"), votes("b"), votes("c")],
      c: [slowly(100_000, answers("C")), votes("c")],
    });
    expect(world.events("votes.cleared")).toMatchObject([
      {
        by: "agent3.1",
        votes: [
          { agent: "a", label: "agent2.1" },
          { agent: "b", label: "agent2.1" },
        ],
      },
    ]);
    expect(settled(world)).toMatchObject({
      ended_by: "consensus",
      winner: "c",
      tally: { "agent3.1": 3 },
    });
  });

  it("with an agent whose first call never ends continues without it after the time limit", () => {
    const world = new World();
    world.play({ a: [answers("A"), votes("b")], b: [answers("B"), votes("b")], c: [hangs] });
    expect(world.events("agent.failed")).toMatchObject([
      { agent: "c", code: "initial_round_timeout", at: START + 660_000 },
    ]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", winner: "b" });
  });

  it("handles two replies in their order: a later answer voids an earlier vote", () => {
    const world = new World({ agents: ["a", "b"] });
    world.ask();
    allAnswer(world);
    world.starts("a");
    world.starts("b");
    world.does("a", votes("b"));
    expect(eventLines(world.does("b", answers("B2")))).toEqual([
      "call.completed b",
      "answer.submitted b agent2.2",
      "votes.cleared by agent2.2 a→agent2.1",
      "answers.injected a [agent2.2] reopened",
      "round.started b #3 answered [agent1.1 agent2.2]",
    ]);
  });

  it("handles two replies in their order: a vote after an unseen answer is stale", () => {
    const world = new World({ agents: ["a", "b"] });
    world.ask();
    allAnswer(world);
    world.starts("a");
    world.starts("b");
    world.does("b", answers("B2"));
    expect(eventLines(world.does("a", votes("b")))).toEqual([
      "call.completed a",
      "vote.stale a agent2.2 missing agent2.2",
      "answers.injected a [agent2.2] message",
    ]);
  });

  it("whose agents are all at the answer limit can only vote", () => {
    const world = new World({ rules: { max_new_answers_per_agent: 1 } });
    world.play({
      a: [answers("A"), improves, votes("a")],
      b: [answers("B"), improves, votes("a")],
      c: [answers("C"), votes("a")],
    });
    const later = world
      .events("call.started")
      .filter(({ round, purpose }) => round > 1 && purpose === "coordination");
    expect(new Set(later.map(({ offers }) => offers.join()))).toEqual(new Set(["vote"]));
    expect(world.events("answer.refused")).toHaveLength(2);
    expect(world.events("round.nudged")).toEqual([]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", label: "agent1.1" });
  });

  it("limits the lead of an agent only while another agent has no answer", () => {
    const world = new World({ rules: { fairness_lead_cap_answers: 2 } });
    world.play({
      a: [answers("A"), improves, improves, votes("a"), improves, votes("a")],
      b: [answers("B"), votes("a")],
      c: [hangs],
    });
    const refused = world.events("answer.refused").map(({ agent, code }) => `${agent} ${code}`);
    expect(refused).toEqual(["a lead_limit"]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", winner: "a" });
  });

  it("does not limit the lead of an agent because of a failed agent", () => {
    const world = new World({ agents: ["a", "b"], rules: { fairness_lead_cap_answers: 1 } });
    world.play({
      a: [answers("A"), improves, improves, improves, votes("a")],
      b: [fails({ class: "bad_credentials", code: "invalid_key" })],
    });
    expect(answersOf(world, "a")).toBe(4);
    expect(world.events("answer.refused")).toEqual([]);
  });

  it("with a slow voter, whose votes are stale, counts its vote after the last answer", () => {
    const world = new World({ agents: ["a", "b"], rules: { fairness_lead_cap_answers: null } });
    world.play({
      a: [answers("A"), slowly(1_500, votes("b"))],
      b: [answers("B"), improves, improves, improves, improves, votes("b")],
    });
    expect(world.events("vote.stale").length).toBeGreaterThan(1);
    expect(world.events("round.nudged")).toEqual([]);
    expect(settled(world)).toMatchObject({
      ended_by: "consensus",
      label: "agent2.5",
      tally: { "agent2.5": 2 },
    });
  });

  it("with two equal first answers counts both, and the earlier answer wins a tie", () => {
    const world = new World({ agents: ["a", "b"] });
    world.play({ a: [answers("42"), votes("b")], b: [answers("42"), votes("a")] });
    expect(settled(world)).toMatchObject({
      winner: "a",
      tie: true,
      tally: { "agent1.1": 1, "agent2.1": 1 },
    });
  });

  it("whose first answers use up the budget presents an answer", () => {
    const world = new World({ budget: { max_tokens: 6_000 } });
    world.play({
      a: [answers("A", { usage: used(1_000, 900) })],
      b: [answers("B", { usage: used(1_000, 900) })],
      c: [answers("C", { usage: used(1_000, 900) })],
    });
    expect(settled(world)).toMatchObject({ ended_by: "budget", winner: "c" });
    expect(world.ending).toMatchObject({
      type: "turn.completed",
      finish_reason: "budget",
      answer: "C",
    });
  });

  it("that reaches the deadline in the presentation returns the winning answer at the deadline", () => {
    const world = new World({ agents: ["a", "b"] });
    world.play({
      a: { coordination: [answers("A"), votes("a")], presentation: [hangs] },
      b: [answers("B"), votes("a")],
    });
    expect(world.events("presentation.completed")).toMatchObject([
      { source: "answer", fallback: "deadline", content: "A" },
    ]);
    expect(world.ending.at).toBe(START + 1_000_000);
  });

  it("starts a new round for an agent with a voided vote if its context window is nearly full", () => {
    const world = new World({ agents: ["a", "b"], each: { a: { context_window: 2_000 } } });
    world.play({
      a: [answers("A"), votes("b", { usage: used(1_200, 200) }), votes("b")],
      b: [answers("B"), slowly(5_000, answers("B".repeat(300))), votes("b")],
    });
    expect(
      world.events("round.started").filter(({ cause }) => cause === "context_full"),
    ).toMatchObject([{ agent: "a", labels: expect.arrayContaining(["agent1.1", "agent2.2"]) }]);
    expect(world.events("round.failed")).toEqual([]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", label: "agent2.2" });
  });

  it("counts a vote in a reply with a tool call only after the tool has run", () => {
    const world = new World({ agents: ["a", "b"], every: { tools: [tool("write_file")] } });
    world.play({
      a: [answers("A"), uses(["write_file"], [aVote("b")])],
      b: [answers("B"), votes("b")],
    });
    const order = world.log.filter(({ type }) => type === "tool.completed" || type === "vote.cast");
    expect(eventLines(order)).toEqual([
      "vote.cast b agent2.1",
      "tool.completed a write_file ok",
      "vote.cast a agent2.1",
    ]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", winner: "b" });
  });

  it("refuses two answers in one reply, and accepts a single one afterwards", () => {
    const world = new World({ agents: ["a", "b"] });
    world.play({
      a: [decides([anAnswer("one"), anAnswer("two")]), answers("three"), votes("a")],
      b: [answers("B"), votes("a")],
    });
    expect(world.events("answer.refused").map(({ code }) => code)).toEqual([
      "two_answers",
      "two_answers",
    ]);
    expect(world.ending).toMatchObject({ type: "turn.completed", winner: "a" });
  });

  it("of a single agent starts with the presentation", () => {
    const world = new World({ agents: ["a"], rules: { skip_coordination: true } });
    world.play({ a: { presentation: [says("Forty-two.")] } });
    expect(world.ending).toMatchObject({
      answer: "Forty-two.",
      finish_reason: "skipped",
      label: "agent1.final",
    });
    expect(world.events("call.started")).toHaveLength(1);
  });

  it("presents without a verdict in the last allowed attempt", () => {
    const world = new World({ agents: ["a", "b"], rules: { max_orchestration_restarts: 2 } });
    world.play({
      a: {
        coordination: [
          answers("A"),
          votes("a"),
          answers("A"),
          votes("a"),
          answers("A"),
          votes("a"),
        ],
        presentation: [says("First."), says("Second."), says("Third.")],
        judgement: [rejects("no", "again")],
      },
      b: [answers("B"), votes("a"), answers("B"), votes("a"), answers("B"), votes("a")],
    });
    expect(world.events("attempt.restarted")).toHaveLength(2);
    expect(world.ending).toMatchObject({ attempt: 3, answer: "Third." });
  });

  it("that is cancelled in the presentation ends at once", () => {
    const world = new World({ agents: ["a", "b"] });
    world.ask();
    allAnswer(world);
    for (const id of world.ids) world.does(id, votes("b"));
    world.starts("b");
    world.writing = { b: "The final te" };
    world.give({ type: "cancel_requested" });
    expect(world.ending).toMatchObject({
      type: "turn.cancelled",
      partial: { winner: "b", answer: "B", text: "The final te" },
    });
    expect(world.events("turn.failed")).toEqual([]);
  });

  it("whose winner failed before the presentation returns the winning answer without a call", () => {
    const world = new World();
    const quota = fails({ class: "quota", code: "quota" });
    world.play({
      a: [answers("A"), slowly(20_000, votes("b"))],
      b: [answers("B"), quota],
      c: [answers("C"), slowly(20_000, votes("b"))],
    });
    expect(world.events("presentation.completed")).toMatchObject([
      { agent: "b", source: "answer", fallback: "winner_failed" },
    ]);
    expect(
      world.events("call.started").filter(({ purpose }) => purpose === "presentation"),
    ).toEqual([]);
  });

  it("of twelve agents reaches consensus", () => {
    const ids = Array.from({ length: 12 }, (_, n) => `m${n}`);
    const world = new World({ agents: ids });
    const script = (id: string, n: number) => [
      slowly(1_000 + n * 37, answers(`From ${id}`)),
      slowly(500 + n * 53, votes("m3")),
    ];
    world.play(Object.fromEntries(ids.map((id, n) => [id, script(id, n)])));
    expect(settled(world)).toMatchObject({
      ended_by: "consensus",
      winner: "m3",
      tally: { "agent4.1": 12 },
    });
  });

  it("with one agent whose calls always fail ends with an answer of another agent", () => {
    const world = new World();
    world.play({ a: [answers("A"), votes("b")], b: [answers("B"), votes("b")], c: [fails()] });
    expect(world.events("call.failed")).toHaveLength(15);
    expect(world.events("agent.failed")).toMatchObject([{ agent: "c", code: "server_error" }]);
    expect(settled(world)).toMatchObject({ ended_by: "consensus", winner: "b" });
  });
});
