import { describe, expect, it } from "vitest";
import { answers, confirms, fails, rejects, says, tool, uses, votes } from "./builders";
import { allAnswer, type Row, table } from "./rule-table";
import { World } from "./world";

const world = { agents: ["a", "b"], rules: { max_orchestration_restarts: 1 } };
const rejectsFinal = rejects("It misses the point.", "Answer the question.");

function bothVoteForA(at: World): void {
  allAnswer(at);
  at.does("a", votes("a"));
  at.does("b", votes("a"));
}

function presentsFinal(at: World): void {
  bothVoteForA(at);
  at.does("a", says("First final."));
}

const rejected = (at: World): void => {
  presentsFinal(at);
  at.does("a", rejectsFinal);
};

describe("a final text, if the rules allow another attempt", () => {
  table([
    {
      name: "is judged by its presenter",
      world,
      given: bothVoteForA,
      when: (at) => [...at.does("a", says("First final.")), ...at.starts("a")],
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "round.started a #4 first [] judgement",
        "call.started a submit|restart_orchestration forced",
      ],
    },
    {
      name: "is the turn's answer when its presenter accepts it",
      world,
      given: presentsFinal,
      when: (at) => at.does("a", confirms),
      then: ["call.completed a", "turn.completed a agent1.final consensus"],
    },
    {
      name: "is the turn's answer when the reply has no verdict",
      world,
      given: presentsFinal,
      when: (at) => at.does("a", says("I like it.")),
      then: ["call.completed a", "turn.completed a agent1.final consensus"],
    },
    ...(["length", "unknown"] as const).map(
      (stopReason): Row => ({
        name: `is the turn's answer when the reply with the verdict ended with ${stopReason}`,
        world,
        given: presentsFinal,
        when: (at) =>
          at.does("a", (acting) => {
            const outcome = rejectsFinal(acting);
            if (outcome.what && "reply" in outcome.what) outcome.what.reply.stopReason = stopReason;
            return outcome;
          }),
        then: ["call.completed a", "turn.completed a agent1.final consensus"],
      }),
    ),
    {
      name: "is the turn's answer when the call for the verdict fails",
      world,
      given: presentsFinal,
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "turn.completed a agent1.final consensus"],
    },
    {
      name: "is the turn's answer when no time is left for another attempt",
      world,
      given: (at) => {
        presentsFinal(at);
        at.starts("a");
        at.wait(879_999);
      },
      when: (at) => at.wait(1),
      then: ["call.failed a cancelled final", "turn.completed a agent1.final consensus"],
    },
    {
      name: "is followed by another attempt when its presenter rejects it: rounds and labels start at 1",
      world,
      given: presentsFinal,
      when: (at) => [...at.does("a", rejectsFinal), ...at.does("b", answers("B"))],
      then: [
        "call.completed a",
        "attempt.restarted a",
        "attempt.started 2",
        "round.started a #1 first []",
        "round.started b #1 first []",
        "call.completed b",
        "answer.submitted b agent2.1",
      ],
    },
    {
      name: "is not judged when the winning answer replaced it",
      world,
      given: bothVoteForA,
      when: (at) => at.does("a", says("")),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer empty",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is not judged in the last allowed attempt",
      world,
      given: (at) => {
        rejected(at);
        bothVoteForA(at);
      },
      when: (at) => at.does("a", says("Second final.")),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is the turn's answer when the next attempt ends without an answer",
      world,
      given: (at) => {
        rejected(at);
        at.does("a", fails({ class: "bad_credentials", code: "invalid_key" }));
      },
      when: (at) => at.does("b", fails({ class: "bad_credentials", code: "invalid_key" })),
      then: [
        "call.failed b bad_credentials final",
        "agent.failed b invalid_key",
        "attempt.settled no_agents - -",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is the turn's answer when the next attempt has only a partial text",
      world: { ...world, rules: { ...world.rules, initial_round_timeout_ms: 1_000_000 } },
      given: (at) => {
        rejected(at);
        at.writing = { b: "Let me" };
        at.wait(879_999);
      },
      when: (at) => at.wait(1),
      then: ["attempt.settled deadline - -", "turn.completed a agent1.final consensus"],
    },
    {
      name: "is the turn's answer when the next presentation of a single agent is only partial",
      world: { agents: ["a"], rules: { skip_coordination: true, max_orchestration_restarts: 1 } },
      given: (at) => {
        at.does("a", says("First final."));
        at.does("a", rejectsFinal);
        at.writing = { a: "Half" };
      },
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "turn.completed a agent1.final skipped"],
    },
    {
      name: "is the turn's answer when the user cancels the next attempt",
      world,
      given: rejected,
      when: (at) => at.give({ type: "cancel_requested" }),
      then: ["attempt.settled cancelled - -", "turn.cancelled a First final. -"],
    },
  ]);

  it("is passed to the next attempt with the reason and the executed tools", () => {
    const at = new World({ ...world, every: { tools: [tool("send")] } });
    at.ask();
    bothVoteForA(at);
    at.does("a", uses(["send"]));
    at.tool("a");
    at.does("a", says("First final."));
    at.does("a", rejectsFinal);
    expect(at.turn.attempt.feedback).toEqual({
      reason: "It misses the point.",
      instructions: "Answer the question.",
    });
    expect(at.turn.rejected).toMatchObject({
      attempt: 1,
      label: "agent1.final",
      content: "First final.",
      tools: ["send"],
    });
  });

  it("is replaced by the final text of the next attempt, whose number is in the last event", () => {
    const at = new World(world);
    at.play({
      a: {
        coordination: [answers("A"), votes("a"), answers("A again"), votes("b")],
        presentation: [says("First final.")],
        judgement: [rejectsFinal],
      },
      b: {
        coordination: [answers("B"), votes("a"), answers("B again"), votes("b")],
        presentation: [says("Second final.")],
      },
    });
    expect(at.ending).toMatchObject({ winner: "b", attempt: 2, answer: "Second final." });
  });
});
