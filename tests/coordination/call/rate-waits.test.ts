import { describe } from "vitest";
import { answers, cancel, fails, used, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import type { World } from "../world";

/** The agent's next call must wait this long for the rate limits of its backend. */
const waits = (world: World, id: string, ms: number, call = nextCall(world, id)) =>
  world.give({
    type: "call_held",
    effect: call,
    until: world.now + ms,
    inputTokens: world.inputTokens,
  });

const nextCall = (world: World, id: string): string => {
  const { round } = world.agent(id);
  const agent = world.ids.indexOf(id) + 1;
  return `call_1_1_${agent}_${round?.number}_${round?.call.number}_${(round?.call.sent ?? 0) + 1}`;
};

describe("a call that waits for its backend's rate limits", () => {
  table([
    {
      name: "is logged with the end of the wait, and stays owed",
      when: (world) => waits(world, "a", 40_000),
      then: ["call.waiting a 40000 ms"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "is logged once, even if the wait is reported again",
      given: (world) => void waits(world, "a", 40_000),
      when: (world) => [
        ...waits(world, "a", 30_000),
        ...world.wait(20_000),
        ...waits(world, "a", 20_000),
      ],
      then: [],
    },
    {
      name: "starts normally after the wait",
      given: (world) => void waits(world, "a", 40_000),
      when: (world) => {
        world.wait(40_000);
        return world.starts("a");
      },
      then: ["call.started a new_answer"],
    },
    {
      name: "is logged again for its next try",
      given: (world) => {
        waits(world, "a", 1_000);
        world.does("a", fails());
        world.wait(60_000);
      },
      when: (world) => waits(world, "a", 9_000),
      then: ["call.waiting a 9000 ms"],
    },
    {
      name: "is not logged if it is already sent",
      given: (world) => void world.starts("a"),
      when: (world) => waits(world, "a", 1_000, world.callOf("a")),
      then: [],
    },
    {
      name: "is no longer owed after the turn is cancelled",
      given: (world) => void waits(world, "a", 40_000),
      when: (world) => world.give(cancel),
      then: ["attempt.settled cancelled - -", "turn.cancelled - - -"],
      owes: [],
    },
    {
      name: "does not extend the time until the first answer",
      world: { rules: { initial_round_timeout_ms: 30_000 } },
      given: (world) => {
        world.does("b", answers("B"));
        world.does("c", answers("C"));
        waits(world, "a", 40_000);
      },
      when: (world) => world.wait(60_000).filter(({ type }) => type.startsWith("agent.")),
      then: ["agent.failed a initial_round_timeout"],
    },
    {
      name: "is no longer owed as soon as the budget cannot pay for it",
      world: { agents: ["a", "b"], budget: { max_tokens: 9_000 } },
      given: (world) => {
        waits(world, "a", 40_000);
        world.does("b", answers("B", { usage: used(4_000, 3_900) }));
      },
      when: (world) => world.give({ type: "clock" }),
      then: [],
      owes: ["call b"],
    },
    {
      name: "does not delay other agents",
      given: (world) => {
        allAnswer(world);
        waits(world, "a", 40_000);
      },
      when: (world) => world.does("b", votes("a")),
      then: ["call.completed b", "vote.cast b agent1.1"],
    },
  ]);
});
