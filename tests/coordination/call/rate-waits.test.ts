import { describe } from "vitest";
import { answers, cancel, fails, used, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import type { World } from "../world";

/** The agent's next call must wait this long for the limits of its backend. */
const held = (world: World, id: string, ms: number, call = nextCall(world, id)) =>
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

describe("a call that waits for its backend's limits", () => {
  table([
    {
      name: "is logged with the end of the wait, and stays owed",
      when: (world) => held(world, "a", 40_000),
      then: ["call.waiting a 40000 ms"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "is logged once, even if it asks again",
      given: (world) => void held(world, "a", 40_000),
      when: (world) => [
        ...held(world, "a", 30_000),
        ...world.wait(20_000),
        ...held(world, "a", 20_000),
      ],
      then: [],
    },
    {
      name: "starts normally when there is room",
      given: (world) => void held(world, "a", 40_000),
      when: (world) => {
        world.wait(40_000);
        return world.starts("a");
      },
      then: ["call.started a new_answer"],
    },
    {
      name: "is logged again for its next try",
      given: (world) => {
        held(world, "a", 1_000);
        world.does("a", fails());
        world.wait(60_000);
      },
      when: (world) => held(world, "a", 9_000),
      then: ["call.waiting a 9000 ms"],
    },
    {
      name: "is not logged once it was sent",
      given: (world) => void world.starts("a"),
      when: (world) => held(world, "a", 1_000, world.callOf("a")),
      then: [],
    },
    {
      name: "is over with the turn",
      given: (world) => void held(world, "a", 40_000),
      when: (world) => world.give(cancel),
      then: ["attempt.settled cancelled - -", "turn.cancelled - - -"],
      owes: [],
    },
    {
      name: "is over at the end of the first round's time",
      world: { rules: { initial_round_timeout_ms: 30_000 } },
      given: (world) => {
        world.does("b", answers("B"));
        world.does("c", answers("C"));
        held(world, "a", 40_000);
      },
      when: (world) => world.wait(60_000).filter(({ type }) => type.startsWith("agent.")),
      then: ["agent.failed a initial_round_timeout"],
    },
    {
      name: "waits no longer once the budget cannot pay for it",
      world: { agents: ["a", "b"], budget: { max_tokens: 9_000 } },
      given: (world) => {
        held(world, "a", 40_000);
        world.does("b", answers("B", { usage: used(4_000, 3_900) }));
      },
      when: (world) => world.give({ type: "clock" }),
      then: [],
      owes: ["call b"],
    },
    {
      name: "delays no other agent",
      given: (world) => {
        allAnswer(world);
        held(world, "a", 40_000);
      },
      when: (world) => world.does("b", votes("a")),
      then: ["call.completed b", "vote.cast b agent1.1"],
    },
  ]);
});
