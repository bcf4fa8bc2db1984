import { describe } from "vitest";
import { anAnswer, answers, aVote, decides, invalid, votes } from "../builders";
import { allAnswer, giveLargeAnswers, SIX_AGENTS, table } from "../rule-table";

const LARGE = "x".repeat(128 * 1024 + 1);
describe("new_answer", () => {
  table([
    {
      name: "counts even if the stop reason of the reply is unknown, because the call is complete",
      when: (world) => world.does("a", answers("A", { stopReason: "unknown" })),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "gets the next revision and label, and names every valid vote that it voids",
      given: (world) => {
        allAnswer(world);
        world.does("b", votes("a"));
        world.does("c", votes("c"));
      },
      when: (world) => world.does("a", answers("A better")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "votes.cleared by agent1.2 b→agent1.1 c→agent3.1",
        "answers.injected b [agent1.2] reopened",
        "answers.injected c [agent1.2] reopened",
        "round.started a #3 answered [agent1.2 agent2.1 agent3.1]",
      ],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "voids its own author's vote too",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("b", answers("B better"));
      },
      when: (world) => world.does("a", answers("A better")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "round.started a #3 answered [agent1.2 agent2.2 agent3.1]",
      ],
    },
    {
      name: "is refused with a reminder when it is empty",
      when: (world) => world.does("a", answers(" \n")),
      then: ["call.completed a", "answer.refused a empty_answer", "round.nudged a 1"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "is refused above 128 KB, also as a first answer",
      when: (world) => world.does("a", answers(LARGE)),
      then: ["call.completed a", "answer.refused a answer_too_large", "round.nudged a 1"],
    },
    {
      name: "is measured in bytes, not in characters",
      when: (world) => world.does("a", answers("é".repeat(64 * 1024 + 1))),
      then: ["call.completed a", "answer.refused a answer_too_large", "round.nudged a 1"],
    },
    {
      name: "is accepted at exactly 128 KB",
      when: (world) => world.does("a", answers("x".repeat(128 * 1024))),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "is refused when it differs from a shown answer only in white space",
      given: allAnswer,
      when: (world) => world.does("a", answers("  B\n")),
      then: ["call.completed a", "answer.refused a duplicate_answer", "round.nudged a 1"],
    },
    {
      name: "is refused when it repeats its author's earlier answer",
      given: allAnswer,
      when: (world) => world.does("a", answers("A")),
      then: ["call.completed a", "answer.refused a duplicate_answer", "round.nudged a 1"],
    },
    {
      name: "may equal an answer that was replaced before its author was shown it",
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
        world.does("b", answers("B3"));
        world.does("a", votes("b"));
      },
      when: (world) => world.does("a", answers("B2")).slice(0, 2),
      then: ["call.completed a", "answer.submitted a agent1.2"],
    },
    {
      name: "may equal another answer if it is a first answer",
      given: (world) => world.does("a", answers("the same")),
      when: (world) => world.does("b", answers("the same")),
      then: ["call.completed b", "answer.submitted b agent2.1"],
    },
    {
      name: "may equal a newer answer that its author has not seen yet",
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("news"));
      },
      when: (world) => world.does("b", answers("news")),
      then: [
        "call.completed b",
        "answer.submitted b agent2.2",
        "round.started b #3 answered [agent1.2 agent2.2 agent3.1]",
      ],
    },
    {
      name: "is refused when one reply has hundreds of answers, and at most 64 refusals are logged",
      when: (world) =>
        world.does(
          "a",
          decides(Array.from({ length: 500 }, (_, index) => anAnswer(`answer ${index}`))),
        ),
      then: [
        "call.completed a",
        ...Array.from({ length: 64 }, () => "answer.refused a two_answers"),
        "round.nudged a 1",
      ],
    },
    {
      name: "is refused when a reply has two answers: both are refused",
      when: (world) => world.does("a", decides([anAnswer("one"), anAnswer("two")])),
      then: [
        "call.completed a",
        "answer.refused a two_answers",
        "answer.refused a two_answers",
        "round.nudged a 1",
      ],
    },
    {
      name: "is refused together with a vote, in either order",
      given: allAnswer,
      when: (world) => world.does("a", decides([aVote("b"), anAnswer("A2")])),
      then: [
        "call.completed a",
        "vote.refused a choose_one",
        "answer.refused a choose_one",
        "round.nudged a 1",
      ],
    },
    {
      name: "is refused with invalid arguments",
      when: (world) => world.does("a", decides([invalid("new_answer")])),
      then: ["call.completed a", "answer.refused a invalid_arguments", "round.nudged a 1"],
    },
    {
      name: "does not count in a reply that was cut, even if it looks complete",
      when: (world) => world.does("a", answers("half a thou", { stopReason: "length" })),
      then: ["call.completed a", "answer.refused a reply_cut", "round.nudged a 1"],
    },
    {
      name: "beyond the agent's limit is refused without a reminder",
      world: { agents: ["a", "b"], rules: { max_new_answers_per_agent: 1 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      then: ["call.completed a", "answer.refused a answer_limit"],
      owes: ["call a", "call b"],
    },
    {
      name: "beyond the team's limit is refused",
      world: { agents: ["a", "b"], rules: { max_new_answers_global: 2 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      then: ["call.completed a", "answer.refused a team_limit"],
    },
    {
      name: "is refused once all answers of the team fill 8 MB, replaced answers included",
      world: SIX_AGENTS,
      given: (world) => giveLargeAnswers(world, 64),
      when: (world) => world.does("a", answers("Short")),
      then: [
        "call.completed a",
        "answer.refused a size_limit",
        "round.started a #14 context_full [agent1.12 agent2.12 agent3.12 agent4.12 agent5.11 agent6.11]",
      ],
    },
    {
      name: "is accepted as long as the answers before it have less than 8 MB",
      world: SIX_AGENTS,
      given: (world) => giveLargeAnswers(world, 63),
      when: (world) => world.does("a", answers("y".repeat(128 * 1024))),
      then: [
        "call.completed a",
        "answer.submitted a agent1.13",
        "round.started a #14 answered [agent1.13 agent2.12 agent3.12 agent4.11 agent5.11 agent6.11]",
      ],
    },
    {
      name: "that is refused at a limit is followed by an injection of newer answers",
      world: { rules: { max_new_answers_global: 4 } },
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", answers("A2")),
      then: [
        "call.completed a",
        "answer.refused a team_limit",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "is accepted beyond every limit if it is a first answer",
      world: { rules: { max_new_answers_global: 1, fairness_lead_cap_answers: 0 } },
      given: (world) => world.does("a", answers("A")),
      when: (world) => world.does("b", answers("B")),
      then: ["call.completed b", "answer.submitted b agent2.1"],
    },
    {
      name: "is refused if its author would be too far ahead of a live agent without a vote",
      world: { rules: { fairness_lead_cap_answers: 1 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("A2"));
      },
      when: (world) => world.does("a", answers("A3")),
      then: ["call.completed a", "answer.refused a lead_limit"],
    },
    {
      name: "is accepted again after the other agents have given more answers",
      world: { agents: ["a", "b"], rules: { fairness_lead_cap_answers: 1 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("A2"));
        world.does("a", answers("A3"));
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", answers("A3")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.3",
        "round.started a #4 answered [agent1.3 agent2.2]",
      ],
    },
    {
      name: "is not limited by agents that have voted",
      world: { agents: ["a", "b"], rules: { fairness_lead_cap_answers: 0 } },
      given: (world) => {
        allAnswer(world);
        world.does("b", votes("a"));
      },
      when: (world) => world.does("a", answers("A2")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "votes.cleared by agent1.2 b→agent1.1",
        "answers.injected b [agent1.2] reopened",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
  ]);
});
