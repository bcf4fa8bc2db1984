import { describe, expect, it } from "vitest";
import { answers, confirms, fails, rejects, says, tool, uses, votes } from "./builders";
import { allAnswer, type Row, table } from "./rule-table";
import { World } from "./world";

const world = { agents: ["a", "b"], rules: { max_orchestration_restarts: 1 } };
const again = rejects("It misses the point.", "Answer the question.");

function agree(at: World): void {
  allAnswer(at);
  at.does("a", votes("a"));
  at.does("b", votes("a"));
}

function presented(at: World): void {
  agree(at);
  at.does("a", says("First final."));
}

const rejected = (at: World): void => {
  presented(at);
  at.does("a", again);
};

describe("a presentation that is not the last allowed", () => {
  table([
    {
      name: "is judged by its presenter",
      world,
      given: agree,
      when: (at) => [...at.does("a", says("First final.")), ...at.starts("a")],
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "round.started a #4 first [] judgement",
        "call.started a submit|restart_orchestration forced",
      ],
    },
    {
      name: "is the answer when confirmed",
      world,
      given: presented,
      when: (at) => at.does("a", confirms),
      then: ["call.completed a", "turn.completed a agent1.final consensus"],
    },
    {
      name: "is the answer without a verdict",
      world,
      given: presented,
      when: (at) => at.does("a", says("I like it.")),
      then: ["call.completed a", "turn.completed a agent1.final consensus"],
    },
    ...(["length", "unknown"] as const).map(
      (stopReason): Row => ({
        name: `is the answer when the verdict ended with ${stopReason}`,
        world,
        given: presented,
        when: (at) =>
          at.does("a", (acting) => {
            const outcome = again(acting);
            if (outcome.what && "reply" in outcome.what) outcome.what.reply.stopReason = stopReason;
            return outcome;
          }),
        then: ["call.completed a", "turn.completed a agent1.final consensus"],
      }),
    ),
    {
      name: "is the answer when judging fails",
      world,
      given: presented,
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "turn.completed a agent1.final consensus"],
    },
    {
      name: "is the answer when the time for another attempt is over",
      world,
      given: (at) => {
        presented(at);
        at.starts("a");
        at.wait(879_999);
      },
      when: (at) => at.wait(1),
      then: ["call.failed a cancelled final", "turn.completed a agent1.final consensus"],
    },
    {
      name: "opens the next attempt when rejected: new rounds, labels from 1",
      world,
      given: presented,
      when: (at) => [...at.does("a", again), ...at.does("b", answers("B"))],
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
      given: agree,
      when: (at) => at.does("a", says("")),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer empty",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is not judged when it is the last allowed",
      world,
      given: (at) => {
        rejected(at);
        agree(at);
      },
      when: (at) => at.does("a", says("Second final.")),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "stays the answer when the next attempt ends without one",
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
      name: "stays the answer when the next attempt has only a partial text",
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
      name: "stays the answer when a single agent's next presentation is only partial",
      world: { agents: ["a"], rules: { skip_coordination: true, max_orchestration_restarts: 1 } },
      given: (at) => {
        at.does("a", says("First final."));
        at.does("a", again);
        at.writing = { a: "Half" };
      },
      when: (at) => at.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "turn.completed a agent1.final skipped"],
    },
    {
      name: "is the result of a cancelled next attempt",
      world,
      given: rejected,
      when: (at) => at.give({ type: "cancel_requested" }),
      then: ["attempt.settled cancelled - -", "turn.cancelled a First final. -"],
    },
  ]);

  it("passes the reason and the executed tools to the next attempt", () => {
    const at = new World({ ...world, every: { tools: [tool("send")] } });
    at.ask();
    agree(at);
    at.does("a", uses(["send"]));
    at.tool("a");
    at.does("a", says("First final."));
    at.does("a", again);
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

  it("presents the final of the last successful attempt, and names the attempt", () => {
    const at = new World(world);
    at.play({
      a: {
        coordination: [answers("A"), votes("a"), answers("A again"), votes("b")],
        presentation: [says("First final.")],
        judgement: [again],
      },
      b: {
        coordination: [answers("B"), votes("a"), answers("B again"), votes("b")],
        presentation: [says("Second final.")],
      },
    });
    expect(at.ending).toMatchObject({ winner: "b", attempt: 2, answer: "Second final." });
  });
});
