import { describe } from "vitest";
import { aVote, answers, decides, invalid, says, votes } from "../builders";
import { allAnswer, table } from "../rule-table";

describe("a vote", () => {
  table([
    {
      name: "counts for the newest answer of its target, and ends the voter's round",
      given: allAnswer,
      when: (world) => world.does("a", votes("b")),
      then: ["call.completed a", "vote.cast a agent2.1"],
      owes: ["call b", "call c"],
    },
    {
      name: "may be for the voter's own answer",
      given: allAnswer,
      when: (world) => world.does("a", votes("a")),
      then: ["call.completed a", "vote.cast a agent1.1"],
    },
    {
      name: "of the last live agent without a vote makes consensus, and the winner presents",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("b", votes("b"));
      },
      when: (world) => world.does("c", votes("a")),
      then: [
        "call.completed c",
        "vote.cast c agent1.1",
        "attempt.settled consensus b agent2.1 agent1.1:1 agent2.1:2",
        "presentation.started b agent2.1",
      ],
      owes: ["call b"],
    },
    {
      name: "is stale while its voter has not seen every newest answer, and the missing answers are injected",
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
        world.does("c", answers("C2"));
      },
      when: (world) => world.does("a", votes("b")),
      then: [
        "call.completed a",
        "vote.stale a agent2.2 missing agent2.2 agent3.2",
        "answers.injected a [agent2.2 agent3.2] message",
      ],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "is stale even for an answer that was shown, if a newer answer of another agent was not shown",
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", votes("c")),
      then: [
        "call.completed a",
        "vote.stale a agent3.1 missing agent2.2",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "is stale with one missing answer if the same agent gave several newer answers",
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
        world.does("b", answers("B3"));
      },
      when: (world) => world.does("a", votes("b")),
      then: [
        "call.completed a",
        "vote.stale a agent2.3 missing agent2.3",
        "answers.injected a [agent2.3] message",
      ],
    },
    {
      name: "for an unknown alias is refused with a reminder",
      given: allAnswer,
      when: (world) => world.does("a", votes("agent99")),
      then: ["call.completed a", "vote.refused a unknown_alias", "round.nudged a 1"],
    },
    {
      name: "with an agent's id is refused, because models know only aliases",
      given: allAnswer,
      when: (world) =>
        world.does(
          "a",
          decides([
            (acting) => ({ name: "vote", tool_call: `t${acting.nth}`, alias: "b", reason: "" }),
          ]),
        ),
      then: ["call.completed a", "vote.refused a unknown_alias", "round.nudged a 1"],
    },
    {
      name: "for an agent without an answer is refused",
      world: { agents: ["a", "b", "c"] },
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"));
        world.wait(6_000);
      },
      when: (world) => world.does("a", votes("c")),
      then: ["call.completed a", "vote.refused a no_answer", "round.nudged a 1"],
    },
    {
      name: "before the voter's first answer is refused",
      given: (world) => world.does("b", answers("B")),
      when: (world) => world.does("a", votes("b")),
      then: ["call.completed a", "vote.refused a answer_first", "round.nudged a 1"],
    },
    {
      name: "with a reason over 4 KB is refused",
      given: allAnswer,
      when: (world) => world.does("a", decides([aVote("b", "x".repeat(4 * 1024 + 1))])),
      then: ["call.completed a", "vote.refused a reason_too_long", "round.nudged a 1"],
    },
    {
      name: "with invalid arguments is refused",
      given: allAnswer,
      when: (world) => world.does("a", decides([invalid("vote")])),
      then: ["call.completed a", "vote.refused a invalid_arguments", "round.nudged a 1"],
    },
    {
      name: "counts only if it is the last vote of its reply",
      given: allAnswer,
      when: (world) => world.does("a", decides([aVote("b"), aVote("agent99"), aVote("c")])),
      then: ["call.completed a", "vote.cast a agent3.1"],
    },
    {
      name: "in a reply that was cut does not count",
      given: allAnswer,
      when: (world) => world.does("a", votes("b", { stopReason: "length" })),
      then: ["call.completed a", "vote.refused a reply_cut", "round.nudged a 1"],
    },
    {
      name: "does not count if it is only text that looks like a vote",
      given: allAnswer,
      when: (world) => world.does("a", says('vote({"agent_id": "agent1", "reason": "best"})')),
      then: ["call.completed a", "round.nudged a 1"],
    },
  ]);
});
