import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../src/protocol/events";
import { answers, fails, says, votes } from "../builders";
import { eventLines } from "../event-lines";
import { table } from "../rule-table";
import { World, type WorldOptions } from "../world";

/** Three agents. The team waits 5 s for a member whose calls fail. */
const team = { rules: { failing_member_grace_ms: 5_000 } } satisfies WorldOptions;
/** The same team, in which agents vote only after every agent has answered. */
const patientTeam = {
  rules: { ...team.rules, defer_voting_until_all_answered: true },
} satisfies WorldOptions;

/** The agents a and b answer, and wait for the first answer of c. */
function othersAnswer(world: World): void {
  world.does("a", answers("A"));
  world.does("b", answers("B"));
}

/** All agents answer. Then a and b vote for a. */
function othersVote(world: World): void {
  othersAnswer(world);
  world.does("c", answers("C"));
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

/** The next call of the agent fails as soon as it is due. Returns the events from then on. */
function tryFails(
  world: World,
  id: string,
  changes: Parameters<typeof fails>[0] = {},
): SessionEvent[] {
  const call = world.owes().find((line) => line.startsWith(`call ${id}`)) ?? "";
  const [, ms = "0"] = / in (\d+)$/.exec(call) ?? [];
  const before = world.wait(Number(ms));
  return [...before, ...world.does(id, fails(changes))];
}

const ROUNDS_OF_OTHERS = [
  "round.started a #2 answered [agent1.1 agent2.1]",
  "round.started b #2 answered [agent1.1 agent2.1]",
];

describe("a member whose calls fail while the others wait for its first answer", () => {
  table([
    {
      name: "fails with its last error after 5 s in which one more try failed",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        tryFails(world, "c", { code: "overloaded" });
      },
      when: (world) => world.wait(5_000),
      then: ["agent.failed c overloaded", ...ROUNDS_OF_OTHERS],
    },
    {
      name: "is not given up before 5 s",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        tryFails(world, "c");
      },
      when: (world) => world.wait(4_500),
      then: [],
    },
    {
      name: "has 5 s from the last answer of the others, however long it failed before",
      world: patientTeam,
      given: (world) => {
        tryFails(world, "c");
        tryFails(world, "c");
        world.wait(60_000);
        othersAnswer(world);
        world.wait(100);
        tryFails(world, "c");
      },
      when: (world) => [...world.wait(4_899), ...world.wait(1)],
      then: ["agent.failed c server_error", ...ROUNDS_OF_OTHERS],
    },
    {
      name: "has its next try after 2.5 s, even if its back-off is longer",
      world: patientTeam,
      given: (world) => {
        for (let n = 0; n < 4; n += 1) tryFails(world, "c");
      },
      when: (world) => {
        othersAnswer(world);
        return [];
      },
      then: [],
      owes: ["call c in 2500"],
    },
    {
      name: "is not given up before one more try has failed",
      world: patientTeam,
      given: (world) => {
        tryFails(world, "c");
        othersAnswer(world);
      },
      when: (world) => world.wait(60_000),
      then: [],
      owes: ["call c"],
    },
    {
      name: "is not given up while one of its calls is open",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        world.wait(1_000);
        world.starts("c");
      },
      when: (world) => world.wait(60_000),
      then: [],
    },
    {
      name: "fails as soon as the call fails that was open when the 5 s were over",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        world.wait(1_000);
        world.starts("c");
        world.wait(20_000);
      },
      when: (world) => world.does("c", fails()).slice(0, 2),
      then: ["call.failed c transient retry in 1448", "agent.failed c server_error"],
    },
    {
      name: "fails after 5 s without another try if its provider asks for a longer wait",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c", { code: "rate_limited", retryAfterMs: 60_000 });
      },
      when: (world) => [...world.wait(4_999), ...world.wait(1)],
      then: ["agent.failed c rate_limited", ...ROUNDS_OF_OTHERS],
    },
    {
      name: "has its next try when its provider asked for it, within the 5 s",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c", { code: "rate_limited", retryAfterMs: 4_000 });
      },
      when: (world) => world.wait(1_000),
      then: [],
      owes: ["call c in 3000"],
    },
    {
      name: "is not called before its provider's wait is over, even if its back-off is longer",
      world: patientTeam,
      given: (world) => {
        for (let n = 0; n < 3; n += 1) tryFails(world, "c");
        tryFails(world, "c", { code: "rate_limited", retryAfterMs: 4_000 });
        world.wait(100);
        othersAnswer(world);
      },
      when: () => [],
      then: [],
      owes: ["call c in 3900"],
    },
    {
      name: "continues if a try succeeds",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        world.wait(1_000);
        world.does("c", says("hm"));
      },
      when: (world) => world.wait(60_000),
      then: [],
      owes: ["call c"],
    },
    {
      name: "has a new grace if a call fails after another call succeeded",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        world.wait(1_000);
        world.does("c", says("hm"));
        world.wait(10_000);
      },
      when: (world) => [...tryFails(world, "c"), ...world.wait(4_999)],
      then: ["call.failed c transient retry in 226"],
    },
    {
      name: "does not count tries that a restart of the service interrupted",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        world.starts("c");
        world.interrupt();
        world.starts("c");
        world.interrupt();
      },
      when: (world) => world.wait(60_000),
      then: [],
      owes: ["call c"],
    },
    {
      name: "is given up also after its round failed",
      world: patientTeam,
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c", { class: "quota", code: "quota_exceeded" });
        world.wait(100);
        tryFails(world, "c", { class: "quota", code: "quota_exceeded" });
      },
      when: (world) => world.wait(5_000),
      then: ["agent.failed c quota_exceeded", ...ROUNDS_OF_OTHERS],
    },
  ]);
});

describe("a member whose calls fail while all others hold a valid vote", () => {
  table([
    {
      name: "abstains after 5 s if it has an answer, and the vote ends",
      world: team,
      given: (world) => {
        othersVote(world);
        tryFails(world, "c");
        tryFails(world, "c");
      },
      when: (world) => world.wait(5_000).slice(0, 2),
      then: ["agent.abstained c server_error", "attempt.settled consensus a agent1.1 agent1.1:2"],
    },
    {
      name: "is waited for while one of the others works",
      world: team,
      given: (world) => {
        othersAnswer(world);
        world.does("c", answers("C"));
        world.does("a", votes("a"));
        tryFails(world, "c");
        tryFails(world, "c");
      },
      when: (world) => world.wait(60_000),
      then: [],
    },
    {
      name: "is waited for again after a new answer has voided the votes",
      world: team,
      given: (world) => {
        othersVote(world);
        tryFails(world, "c");
        world.wait(1_000);
        world.does("c", answers("C2"));
        world.does("c", votes("a"));
        world.does("a", votes("a"));
      },
      when: (world) => world.wait(60_000),
      then: [],
    },
  ]);
});

describe("a member whose calls fail", () => {
  table([
    {
      name: "is never given up before the others have an answer",
      world: team,
      given: (world) => {
        world.does("a", answers("A"));
        tryFails(world, "c");
        tryFails(world, "c");
      },
      when: (world) => world.wait(60_000),
      then: [],
    },
    {
      name: "is never given up if it is the last live agent",
      world: team,
      given: (world) => {
        othersAnswer(world);
        world.wait(10_000);
        for (const id of ["a", "b"])
          world.does(id, fails({ class: "bad_credentials", code: "bad_credentials" }));
        tryFails(world, "c");
        tryFails(world, "c");
      },
      when: (world) => world.wait(60_000),
      then: [],
      owes: ["call c"],
    },
    {
      name: "is given up together with another failing member",
      world: patientTeam,
      given: (world) => {
        world.does("a", answers("A"));
        for (const id of ["b", "c", "b", "c"]) tryFails(world, id);
      },
      when: (world) => world.wait(5_000),
      then: [
        "agent.failed b server_error",
        "agent.failed c server_error",
        "round.started a #2 answered [agent1.1]",
      ],
    },
    {
      name: "has 5 s from the time at which the last working member began to fail",
      world: team,
      given: (world) => {
        othersAnswer(world);
        world.does("c", answers("C"));
        world.does("a", votes("a"));
        tryFails(world, "b");
        tryFails(world, "b");
        world.wait(20_000);
        tryFails(world, "c");
        tryFails(world, "b");
      },
      when: (world) => world.wait(4_000),
      then: [],
    },
    {
      name: "has 5 s from the time at which the last working member dropped out",
      world: team,
      given: (world) => {
        othersAnswer(world);
        world.does("c", answers("C"));
        world.does("a", votes("a"));
        tryFails(world, "b");
        tryFails(world, "b");
        world.wait(20_000);
        world.does("c", fails({ class: "bad_credentials", code: "bad_credentials" }));
        tryFails(world, "b");
      },
      when: (world) => world.wait(4_000),
      then: [],
    },
    {
      name: "is waited for without limit by a team whose rules have no such grace",
      world: { rules: { defer_voting_until_all_answered: true } },
      given: (world) => {
        othersAnswer(world);
        tryFails(world, "c");
        tryFails(world, "c");
      },
      when: (world) => world.wait(60_000),
      then: [],
      owes: ["call c"],
    },
  ]);

  it("costs a run of three agents 5 s and few calls", () => {
    const world = new World(team);
    const script = (id: string) => [answers(id), votes("a")];
    world.play({ a: script("a"), b: script("b"), c: [fails()] });
    expect(eventLines([world.ending])).toEqual(["turn.completed a agent1.final consensus"]);
    expect(world.events("call.started").length).toBeLessThanOrEqual(14);
    const lastVote = world.events("vote.cast").at(-1)?.at ?? 0;
    expect((world.events("agent.failed")[0]?.at ?? 0) - lastVote).toBeLessThanOrEqual(6_000);
  });
});
