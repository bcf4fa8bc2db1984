import { describe, expect, it } from "vitest";
import { answers, fails, says, used, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const retries =
  (id: string, times: number, changes: Parameters<typeof fails>[0] = {}) =>
  (world: World) => {
    for (let n = 0; n < times; n += 1) {
      world.wait(60_000);
      world.does(id, fails(changes));
    }
  };

/** The agent's probe fails, so no request is sent. */
const probeFails = fails({
  code: "cannot_reach",
  message: "cannot reach api.example",
  reached: false,
});

/** `times` probes of the agent fail, each as soon as it is due. */
const probesFail = (id: string, times: number) => (world: World) => {
  for (let n = 0; n < times; n += 1) {
    world.wait(5_000);
    world.does(id, probeFails);
  }
};

describe("a provider that cannot be reached (A2)", () => {
  table([
    {
      name: "is probed again after 5 s",
      when: (world) => world.does("a", probeFails),
      then: ["call.failed a transient retry in 5000"],
      owes: ["call a in 5000", "call b", "call c"],
    },
    {
      name: "is probed a third time 10 s after the first",
      given: probesFail("a", 1),
      when: (world) => {
        world.wait(6_000);
        return world.does("a", probeFails);
      },
      then: ["call.failed a transient retry in 5000"],
    },
    {
      name: "makes its agent fail after the third failed probe within 10 s",
      given: probesFail("a", 2),
      when: (world) => {
        world.wait(5_000);
        return world.does("a", probeFails);
      },
      then: ["call.failed a transient final", "agent.failed a cannot_reach"],
      owes: ["call b", "call c"],
    },
    {
      name: "has a new count of failed probes after a request was sent",
      given: (world) => {
        probesFail("a", 2)(world);
        world.wait(5_000);
        world.does("a", fails());
        world.wait(5_000);
      },
      when: (world) => world.does("a", probeFails),
      then: ["call.failed a transient retry in 5000"],
    },
    {
      name: "keeps its agent's answers as candidates",
      given: (world) => {
        allAnswer(world);
        probesFail("a", 2)(world);
      },
      when: (world) => {
        world.wait(5_000);
        return world.does("a", probeFails).slice(0, 2);
      },
      then: ["call.failed a transient final", "agent.failed a cannot_reach"],
    },
    {
      name: "makes the winning answer the final text if the presenter needs it",
      given: (world) => {
        allAnswer(world);
        for (const id of world.ids) world.does(id, votes("a"));
        probesFail("a", 2)(world);
      },
      when: (world) => {
        world.wait(5_000);
        return world.does("a", probeFails);
      },
      then: [
        "call.failed a transient final",
        "presentation.completed a agent1.final answer cannot_reach",
        "turn.completed a agent1.final consensus",
      ],
    },
  ]);

  it("costs the turn nothing, and the message names the host", () => {
    const world = new World({ agents: ["a", "b"], budget: { max_cost_usd: 0.02 } });
    world.ask();
    for (const id of world.ids) probesFail(id, 3)(world);
    const agents = world.ids.map((agent) => ({
      agent,
      code: "cannot_reach",
      message: "cannot reach api.example",
    }));
    expect(world.ending).toMatchObject({
      type: "turn.failed",
      agents,
      cost_usd: 0,
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    expect(world.events("call.failed").map(({ tokens, cost_usd }) => [tokens, cost_usd])).toEqual(
      Array(6).fill([0, 0]),
    );
  });
});

describe("a failed call", () => {
  table([
    {
      name: "is retried later if the failure is transient",
      when: (world) => world.does("a", fails()),
      then: ["call.failed a transient retry in 244"],
      owes: ["call a in 244", "call b", "call c"],
    },
    {
      name: "is retried after the wait that the provider asks for, up to 60 s",
      when: (world) => world.does("a", fails({ retryAfterMs: 60_000 })),
      then: ["call.failed a transient retry in 60000"],
    },
    {
      name: "fails its round if the provider asks for a wait of more than 60 s",
      when: (world) => world.does("a", fails({ retryAfterMs: 60_001 })),
      then: [
        "call.failed a transient final",
        "round.failed a server_error",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "fails its round after five tries",
      given: retries("a", 4),
      when: (world) => {
        world.wait(60_000);
        return world.does("a", fails());
      },
      then: [
        "call.failed a transient final",
        "round.failed a server_error",
        "round.started a #2 failed []",
      ],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "that is not the first of its round has five tries too",
      given: (world) => {
        retries("a", 4)(world);
        world.wait(60_000);
        world.does("a", says("hm"));
      },
      when: (world) => world.does("a", fails({ retryAfterMs: 30_000 })),
      then: ["call.failed a transient retry in 30000"],
    },
    {
      name: "that a restart of the service interrupted is retried at once, and the try does not count",
      given: (world) => {
        retries("a", 4)(world);
        world.wait(60_000);
        world.starts("a");
      },
      when: (world) => world.interrupt(),
      then: ["call.failed a interrupted retry in 0"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "fails its round after five interruptions by restarts of the service",
      given: (world) => {
        for (let n = 0; n < 4; n += 1) {
          world.starts("a");
          world.interrupt();
        }
        world.starts("a");
      },
      when: (world) => world.interrupt(),
      then: [
        "call.failed a interrupted final",
        "round.failed a interrupted",
        "round.started a #2 failed []",
      ],
    },
    ...(["quota", "context_too_long", "content_filter", "refusal"] as const).map((failed) => ({
      name: `of class ${failed} fails its round`,
      when: (world: World) => world.does("a", fails({ class: failed, code: failed })),
      then: [
        `call.failed a ${failed} final`,
        `round.failed a ${failed}`,
        "round.started a #2 failed []",
      ],
    })),
    ...(["bad_credentials", "unknown_model", "bad_request"] as const).map((failed) => ({
      name: `of class ${failed} makes its agent fail at once if it is the agent's first call`,
      when: (world: World) => world.does("a", fails({ class: failed, code: failed })),
      then: [`call.failed a ${failed} final`, `agent.failed a ${failed}`],
      owes: ["call b", "call c"],
    })),
    {
      name: "of class bad_request fails only its round if an earlier call of the agent has completed",
      given: (world) => world.does("a", says("hm")),
      when: (world) => world.does("a", fails({ class: "bad_request", code: "bad_request" })),
      then: [
        "call.failed a bad_request final",
        "round.failed a bad_request",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "with a withheld reply fails its round, despite the decision of the reply",
      when: (world) => world.does("a", answers("A", { stopReason: "content_filter" })),
      then: ["call.completed a", "round.failed a content_filter", "round.started a #2 failed []"],
    },
    {
      name: "makes its agent fail if it fails the third round in a row",
      given: (world) => {
        world.does("a", fails({ class: "quota", code: "quota" }));
        world.does("a", fails({ class: "quota", code: "quota" }));
      },
      when: (world) => world.does("a", fails({ class: "quota", code: "quota" })),
      then: ["call.failed a quota final", "round.failed a quota", "agent.failed a quota"],
      owes: ["call b", "call c"],
    },
    {
      name: "no longer counts after an answer, because only failed rounds in a row count",
      world: { agents: ["a", "b"] },
      given: (world) => {
        world.does("a", fails({ class: "quota", code: "quota" }));
        world.does("a", fails({ class: "quota", code: "quota" }));
        allAnswer(world);
      },
      when: (world) => world.does("a", fails({ class: "quota", code: "quota" })),
      then: [
        "call.failed a quota final",
        "round.failed a quota",
        "round.started a #5 failed [agent1.1 agent2.1]",
      ],
    },
    {
      name: "no longer counts after a vote either",
      given: (world) => {
        allAnswer(world);
        world.does("a", fails({ class: "quota", code: "quota" }));
        world.does("a", fails({ class: "quota", code: "quota" }));
        world.does("a", votes("b"));
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", fails({ class: "quota", code: "quota" })),
      then: [
        "call.failed a quota final",
        "round.failed a quota",
        "round.started a #5 failed [agent1.1 agent2.2 agent3.1]",
      ],
    },
    {
      name: "of the last live agent ends the turn with each agent's reason",
      world: { agents: ["a", "b"] },
      given: (world) => world.does("a", fails({ class: "bad_credentials", code: "invalid_key" })),
      when: (world) => world.does("b", fails({ class: "unknown_model", code: "no_such_model" })),
      then: [
        "call.failed b unknown_model final",
        "agent.failed b no_such_model",
        "attempt.settled no_agents - -",
        "turn.failed no_answer a:invalid_key b:no_such_model",
      ],
    },
    {
      name: "of the last live agent makes its partial text the answer",
      world: { agents: ["a", "b"] },
      given: (world) => {
        world.does("a", fails({ class: "bad_credentials", code: "invalid_key" }));
        world.writing = { b: "a longer text" };
      },
      when: (world) => world.does("b", fails({ class: "unknown_model", code: "no_such_model" })),
      then: [
        "call.failed b unknown_model final",
        "answer.submitted b agent2.1 partial",
        "agent.failed b no_such_model",
        "attempt.settled no_agents b agent2.1",
        "presentation.started b agent2.1",
        "presentation.completed b agent2.final answer winner_failed",
        "turn.completed b agent2.final no_agents",
      ],
    },
    {
      name: "that is reported after its agent failed changes nothing",
      given: (world) => {
        world.starts("a");
        world.wait(660_000);
      },
      when: (world) =>
        world.give({ type: "call_failed", effect: "call_1_1_1_1_1_1", failure: failureOf() }),
      then: [],
    },
  ]);

  const failureOf = () => ({
    class: "transient" as const,
    code: "late",
    message: "late",
    retryAfterMs: null,
    usage: null,
    reached: true,
  });
});

describe("the back-off", () => {
  const delays = (seed: number, changes: Parameters<typeof fails>[0] = {}): number[] => {
    const world = new World({ agents: ["a", "b"], seed });
    world.ask();
    retries("a", 4, changes)(world);
    return world.events("call.failed").map(({ at, retry_at }) => (retry_at ?? 0) - at);
  };
  const SEEDS = Array.from({ length: 50 }, (_, nth) => nth * 31);

  it("begins with 100 to 300 ms, because most lost connections and server errors do not last", () => {
    for (const seed of SEEDS) {
      expect(delays(seed)[0]).toBeGreaterThanOrEqual(100);
      expect(delays(seed)[0]).toBeLessThanOrEqual(300);
    }
  });

  it.each([
    { name: "after the second failed try", changes: {}, first: 1 },
    {
      name: "after the first failed try at a rate limit",
      changes: { code: "rate_limited" },
      first: 0,
    },
  ])("doubles with every try $name, and jitter lowers it by at most half", ({ changes, first }) => {
    for (const seed of SEEDS) {
      for (const [index, delay] of delays(seed, changes).entries()) {
        if (index < first) continue;
        expect(delay).toBeGreaterThanOrEqual(500 * 2 ** index);
        expect(delay).toBeLessThanOrEqual(1_000 * 2 ** index);
      }
    }
  });

  it("is random, so that a team does not retry all at once", () => {
    expect(new Set([1, 2, 3, 4, 5].map((seed) => delays(seed * 101).join())).size).toBe(5);
  });

  it("prevents a retry before its end", () => {
    const world = new World();
    world.ask();
    world.does("a", fails({ retryAfterMs: 10_000 }));
    world.wait(9_999);
    expect(world.starts("a")).toEqual([]);
    world.wait(1);
    expect(world.starts("a")).toMatchObject([{ type: "call.started", try: 2 }]);
  });
});

describe("the charge of a failed call", () => {
  it.each([
    {
      name: "is zero if no model processed the call",
      failure: { reached: false },
      tokens: 0,
      usd: 0,
    },
    {
      name: "is its whole reservation if the usage is unknown",
      failure: { reached: true },
      tokens: 5_000,
      usd: 0.009,
    },
    {
      name: "is the reported usage, even if the call did not seem to reach a model",
      failure: { reached: false, usage: used(10, 0) },
      tokens: 10,
      usd: 0.000_01,
    },
    {
      name: "is the reported usage",
      failure: { reached: true, usage: used(1_000, 500) },
      tokens: 1_500,
      usd: 0.002,
    },
  ])("$name", ({ failure, tokens, usd }) => {
    const world = new World();
    world.ask();
    world.does("a", fails(failure));
    expect([world.turn.spentTokens, world.turn.spentUsd]).toEqual([
      tokens,
      expect.closeTo(usd, 12),
    ]);
  });
});
