import { describe } from "vitest";
import { answers, fails, votes } from "../builders";
import { table } from "../rule-table";
import type { World, WorldOptions } from "../world";

/** Five agents whose grace follows the pace of their answers. */
const team = {
  agents: ["a", "b", "c", "d", "e"],
  rules: { paced_grace_agents: 5, failing_member_grace_ms: 5_000 },
} satisfies WorldOptions;

/** The agents answer one after another, each this many ms after the one before. */
function answerAfter(world: World, waits: Readonly<Record<string, number>>): void {
  for (const [id, ms] of Object.entries(waits)) {
    world.wait(ms);
    world.does(id, answers(id.toUpperCase()));
  }
}

const THREE = "[agent1.1 agent2.1 agent3.1]";
const THREE_VOTE = ["a", "b", "c"].map((id) => `round.started ${id} #2 answered ${THREE}`);
const TWO_VOTE = ["a", "b"].map((id) => `round.started ${id} #2 answered [agent1.1 agent2.1]`);

describe("the grace of a large team", () => {
  table([
    {
      name: "is 15 % of the attempt's time after a first answer, if the answers are far apart",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 10_000, b: 1_000, c: 1_000 });
        world.wait(1_799);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "is one mean gap for each missing answer and three more, if the answers are close",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 10_000, b: 200, c: 800 });
        world.wait(1_649);
      },
      when: (world) => world.wait(1),
      // The mean gap is 500 ms and two answers are missing, but 15 % of 11 s are less than 2.5 s.
      then: THREE_VOTE,
    },
    {
      name: "ends five mean gaps after the third answer, if two are missing",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 20_000, b: 1_000, c: 200 });
        world.wait(2_999);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "ends four mean gaps after the fourth answer, if one is missing",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 20_000, b: 1_000, c: 400, d: 1_000 });
        world.wait(3_199);
      },
      when: (world) => world.wait(1),
      then: ["a", "b", "c", "d"].map(
        (id) => `round.started ${id} #2 answered [agent1.1 agent2.1 agent3.1 agent4.1]`,
      ),
    },
    {
      name: "is at least 100 ms",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 0, b: 0, c: 200 });
        world.wait(99);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "is at most 30 s",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 400_000, b: 20_000, c: 4_000 });
        world.wait(29_999);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "never becomes shorter by an answer",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 20_000, b: 0, c: 1 });
        world.wait(1_998);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "starts with the second answer, as in a small team",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 10_000, b: 0 });
        world.wait(999);
      },
      when: (world) => world.wait(1),
      then: TWO_VOTE,
    },
    {
      name: "does not depend on the pace in a smaller team",
      world: { ...team, rules: { paced_grace_agents: 6 } },
      given: (world) => {
        answerAfter(world, { a: 20_000, b: 0, c: 1_999 });
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "does not depend on the pace if the team's rules do not say so",
      world: { ...team, rules: {} },
      given: (world) => {
        answerAfter(world, { a: 20_000, b: 0, c: 1_999 });
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "is not extended for members whose calls fail",
      world: team,
      given: (world) => {
        world.does("d", fails());
        world.does("e", fails());
        answerAfter(world, { a: 20_000, b: 0, c: 1_999 });
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "has no gap for a member whose calls fail",
      world: team,
      given: (world) => {
        world.does("e", fails());
        answerAfter(world, { a: 20_000, b: 1_000, c: 200 });
        world.wait(2_399);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "has no gap for an agent that has failed",
      world: team,
      given: (world) => {
        world.does("e", fails({ class: "bad_credentials", code: "invalid_key" }));
        answerAfter(world, { a: 20_000, b: 1_000, c: 200 });
        world.wait(2_399);
      },
      when: (world) => world.wait(1),
      then: THREE_VOTE,
    },
    {
      name: "starts again for an agent that answers after it, and not for those that work already",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 10_000, b: 0 });
        world.wait(1_000);
        world.does("a", votes("b"));
        answerAfter(world, { c: 9_000 });
        world.wait(2_999);
      },
      when: (world) => world.wait(1),
      then: [`round.started c #2 answered ${THREE}`],
      owes: ["call a", "call b", "call c", "call d", "call e"],
    },
    {
      name: "is not extended by another answer of an agent that has one",
      world: team,
      given: (world) => {
        answerAfter(world, { a: 10_000, b: 0 });
        world.wait(1_000);
        answerAfter(world, { c: 9_000 });
        world.wait(2_999);
        world.does("a", answers("A2"));
      },
      when: (world) => world.wait(1),
      then: ["round.started c #2 answered [agent1.2 agent2.1 agent3.1]"],
    },
    {
      name: "ends with the last first answer",
      world: team,
      given: (world) => answerAfter(world, { a: 10_000, b: 100, c: 100, d: 100 }),
      when: (world) => world.does("e", answers("E")),
      then: [
        "call.completed e",
        "answer.submitted e agent5.1",
        ...["a", "b", "c", "d", "e"].map(
          (id) => `round.started ${id} #2 answered [agent1.1 agent2.1 agent3.1 agent4.1 agent5.1]`,
        ),
      ],
    },
    {
      name: "does not exist if voting is deferred until all have answered",
      world: { ...team, rules: { ...team.rules, defer_voting_until_all_answered: true } },
      given: (world) => answerAfter(world, { a: 10_000, b: 100, c: 100 }),
      when: (world) => world.wait(500_000),
      then: [],
    },
  ]);
});
