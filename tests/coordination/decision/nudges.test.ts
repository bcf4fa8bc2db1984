import { describe } from "vitest";
import { answers, says, uses, tool, votes, anAnswer } from "../builders";
import { allAnswer, table } from "../rule-table";
import type { World } from "../world";

const talks = says("Let me think about that.");
const talkThrice = (id: string) => (world: World) => {
  for (let n = 0; n < 3; n += 1) world.does(id, talks);
};

describe("a reply without a decision", () => {
  table([
    {
      name: "gets a reminder",
      when: (world) => world.does("a", talks),
      then: ["call.completed a", "round.nudged a 1"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "gets a reminder when it is empty",
      when: (world) => world.does("a", says("")),
      then: ["call.completed a", "round.nudged a 1"],
    },
    {
      name: "gets a reminder when it was cut",
      when: (world) => world.does("a", says("Let me", { stopReason: "length" })),
      then: ["call.completed a", "round.nudged a 1"],
    },
    {
      name: "gets a reminder and an injection of newer answers",
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", talks),
      then: ["call.completed a", "round.nudged a 1", "answers.injected a [agent2.2] message"],
    },
    {
      name: "after three reminders makes the partial text of an agent without an answer its answer",
      given: (world) => {
        talkThrice("a")(world);
        world.writing = { a: "Let me think about that." };
      },
      when: (world) => world.does("a", talks),
      then: ["call.completed a", "answer.submitted a agent1.1 partial"],
    },
    {
      name: "after three reminders fails the round of an agent that wrote nothing",
      given: talkThrice("a"),
      when: (world) => world.does("a", says("")),
      then: ["call.completed a", "round.failed a no_decision", "round.started a #2 failed []"],
    },
    {
      name: "after three reminders fails the round of an agent with an answer, even if it wrote text",
      given: (world) => {
        allAnswer(world);
        talkThrice("a")(world);
        world.writing = { a: "more text" };
      },
      when: (world) => world.does("a", talks),
      then: [
        "call.completed a",
        "round.failed a no_decision",
        "round.started a #3 failed [agent1.1 agent2.1 agent3.1]",
      ],
    },
    {
      name: "gets a first reminder again in a new round",
      given: (world) => {
        talkThrice("a")(world);
        world.does("a", talks);
      },
      when: (world) => world.does("a", talks),
      then: ["call.completed a", "round.nudged a 1"],
    },
    {
      name: "gets no reminder if its answer was refused at a limit, even many times",
      world: { agents: ["a", "b"], rules: { max_new_answers_per_agent: 1 } },
      given: (world) => {
        allAnswer(world);
        for (let n = 0; n < 10; n += 1) world.does("a", answers(`A${n + 2}`));
      },
      when: (world) => world.does("a", answers("again")),
      then: ["call.completed a", "answer.refused a answer_limit"],
    },
    {
      name: "gets no reminder if its vote was stale",
      given: (world) => {
        allAnswer(world);
        talkThrice("a")(world);
        world.starts("a");
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", votes("b")),
      then: [
        "call.completed a",
        "vote.stale a agent2.2 missing agent2.2",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "that was cut runs no tools, and gets only one reminder",
      world: { every: { tools: [tool("write_file")] } },
      when: (world) =>
        world.does("a", uses(["write_file"], [anAnswer("A")], { stopReason: "length" })),
      then: [
        "call.completed a",
        "tool.completed a write_file refused",
        "answer.refused a reply_cut",
        "round.nudged a 1",
      ],
      owes: ["call a", "call b", "call c"],
    },
  ]);
});
