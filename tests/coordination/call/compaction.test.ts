import { describe, expect, it } from "vitest";
import { answers, fails, says, used, uses, votes } from "../builders";
import type { Usage } from "../../../src/protocol/events";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const tooLong = (changes: Parameters<typeof fails>[0] = {}) =>
  fails({
    class: "context_too_long",
    code: "context_too_long",
    message: "5000 tokens are too many.",
    ...changes,
  });
const compactible = tooLong({ compactible: true });
const DROPPED = { replies: 3, tool_calls: 4, tool_results: 4, notes: 0, tokens: 60_000 };
/** The model's reply to a summary request. */
const summarizes = says("All I have done so far.", { dropped: DROPPED, usage: used(900, 90) });

/** Two agents, each with a context window of 100,000 tokens. */
const world = { agents: ["a", "b"], every: { context_window: 100_000 } };
/** Agent `a` replies without a decision, and its conversation then has this many tokens. */
const reaches = (tokens: number) => (team: World) =>
  void team.does("a", says("hm", { usage: used(tokens - 50, 50) }));
/** The agents may write long replies, so a call reserves many tokens. */
const longReplies = { ...world, every: { ...world.every, max_output_tokens: 90_000 } };
/** Calls whose reported usage is not the length of their conversation. */
const UNMEASURED: { kind: string; usage: Usage | null }[] = [
  { kind: "without reported usage", usage: null },
  {
    kind: "with web searches, whose results also count as input",
    usage: { ...used(95_000, 50), hosted_uses: { web_search: 2 } },
  },
  {
    kind: "of several requests, in each of which the conversation counts again",
    usage: { ...used(95_000, 50), requests: 2 },
  },
];
/** Starts the next call of agent `a`, with a conversation of which a part can be summarized. */
const startsCall = (team: World, compactionTokens = 2_000) => {
  const effect = `call_1_1_1_1_${team.agent("a").round?.call.number}_${(team.agent("a").round?.call.sent ?? 0) + 1}`;
  return team.give({ type: "call_ready", effect, inputTokens: 1_000, compactionTokens });
};
const failsAsTooLong = (team: World) => {
  reaches(50_000)(team);
  team.does("a", compactible);
};

describe("a call that is too long", () => {
  table([
    {
      name: "fails its round if no part can be summarized",
      world,
      when: (team) => team.does("a", tooLong()),
      then: [
        "call.failed a context_too_long final",
        "round.failed a context_too_long",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "is owed again at once if a part can be summarized",
      world,
      given: reaches(50_000),
      when: (team) => team.does("a", compactible),
      then: ["call.failed a context_too_long retry in 0"],
      owes: ["call a", "call b"],
    },
    {
      name: "is sent again only after a summary call, which has no tools",
      world,
      given: failsAsTooLong,
      when: (team) => startsCall(team),
      then: ["call.started a compacts"],
    },
    {
      name: "is sent again as soon as the summary is complete",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
      },
      when: (team) => [...team.does("a", summarizes), ...startsCall(team)],
      then: [
        "call.completed a",
        "conversation.compacted a 3 replies 60000 tokens",
        "call.started a new_answer forced",
      ],
    },
    {
      name: "fails its round if it is still too long after the summary",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
        team.does("a", summarizes);
      },
      when: (team) => team.does("a", compactible),
      then: [
        "call.failed a context_too_long final",
        "round.failed a context_too_long",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "may be followed by another compaction later in its round",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
        team.does("a", summarizes);
        team.does("a", says("hm"));
      },
      when: (team) => team.does("a", compactible),
      then: ["call.failed a context_too_long retry in 0"],
    },
    {
      name: "fails its round if the summary is missing",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
      },
      when: (team) => team.does("a", says("")),
      then: ["call.completed a", "round.failed a context_too_long", "round.started a #2 failed []"],
    },
    {
      name: "fails its round if the summary call is too long as well",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
      },
      when: (team) => team.does("a", compactible),
      then: [
        "call.failed a context_too_long final",
        "round.failed a context_too_long",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "is preceded by a new summary call if the first one failed transiently",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
        team.does("a", fails());
        team.wait(60_000);
      },
      when: (team) => startsCall(team),
      then: ["call.started a compacts"],
    },
    {
      name: "is preceded by a new summary call if a restart interrupted the first one",
      world,
      given: (team) => {
        failsAsTooLong(team);
        startsCall(team);
      },
      when: (team) => [...team.interrupt(), ...startsCall(team)],
      then: ["call.failed a interrupted retry in 0", "call.started a compacts"],
    },
    {
      name: "is sent unchanged if no part can be summarized after a restart",
      world,
      given: failsAsTooLong,
      when: (team) => team.starts("a"),
      then: ["call.started a new_answer forced"],
    },
  ]);

  it("has a message that says why a summary was not possible or did not help", () => {
    const messages = (act: (team: World) => void) => {
      const team = new World(world);
      team.ask();
      act(team);
      return team.events("round.failed").map(({ message }) => message);
    };
    const startsSummary = (team: World) => {
      failsAsTooLong(team);
      startsCall(team);
    };
    expect(messages((team) => team.does("a", tooLong()))).toEqual([
      "The conversation is too long for the model, and nothing of it can be summed up: 5000 tokens are too many.",
    ]);
    expect(
      messages(
        (team) =>
          void [startsSummary(team), team.does("a", summarizes), team.does("a", compactible)],
      ),
    ).toEqual([
      "The conversation is too long for the model even after it was summed up: 5000 tokens are too many.",
    ]);
    expect(messages((team) => void [startsSummary(team), team.does("a", compactible)])).toEqual([
      "The conversation had become too long, and summing it up failed: 5000 tokens are too many.",
    ]);
    expect(messages((team) => void [startsSummary(team), team.does("a", says(""))])).toEqual([
      "The conversation is too long for the model, and the model wrote no summary of it.",
    ]);
  });
});

describe("a conversation that nearly fills the context window", () => {
  table([
    {
      name: "is not summarized up to 85 %",
      world,
      given: reaches(85_000),
      when: (team) => startsCall(team),
      then: ["call.started a new_answer forced"],
    },
    {
      name: "is summarized above 85 %",
      world,
      given: reaches(85_001),
      when: (team) => startsCall(team),
      then: ["call.started a compacts"],
    },
    ...UNMEASURED.map(({ kind, usage }) => ({
      name: `does not get its length from a call ${kind}`,
      world: longReplies,
      given: (team: World) => void team.does("a", says("hm", { usage })),
      when: (team: World) => startsCall(team),
      then: ["call.started a new_answer forced"],
    })),
    ...UNMEASURED.map(({ kind, usage }) => ({
      name: `keeps its measured length after a call ${kind}`,
      world: longReplies,
      given: (team: World) => {
        reaches(90_000)(team);
        team.does("a", says("hm", { usage }));
      },
      when: (team: World) => startsCall(team),
      then: ["call.started a compacts"],
    })),
    {
      name: "is not summarized if no part can be summarized",
      world,
      given: reaches(99_000),
      when: (team) => team.starts("a"),
      then: ["call.started a new_answer forced"],
    },
    {
      name: "continues after the summary",
      world,
      given: (team) => {
        reaches(90_000)(team);
        startsCall(team);
        team.does("a", summarizes);
      },
      when: (team) => startsCall(team),
      then: ["call.started a new_answer forced"],
    },
    {
      name: "continues unchanged if the summary is missing, because it may still fit",
      world,
      given: (team) => {
        reaches(90_000)(team);
        startsCall(team);
      },
      when: (team) => [...team.does("a", says("")), ...startsCall(team)],
      then: ["call.completed a", "call.started a new_answer forced"],
    },
    {
      name: "continues unchanged if the summary call fails finally",
      world,
      given: (team) => {
        reaches(90_000)(team);
        startsCall(team);
      },
      when: (team) => [...team.does("a", fails({ class: "content_filter" })), ...startsCall(team)],
      then: ["call.failed a content_filter retry in 0", "call.started a new_answer forced"],
    },
    {
      name: "fails its round if five tries of the summary call fail transiently",
      world,
      given: (team) => {
        reaches(90_000)(team);
        for (let n = 0; n < 4; n += 1) {
          startsCall(team);
          team.does("a", fails());
          team.wait(60_000);
        }
        startsCall(team);
      },
      when: (team) => team.does("a", fails()),
      then: [
        "call.failed a transient final",
        "round.failed a server_error",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "runs no tools that a summary reply requests",
      world,
      given: (team) => {
        reaches(90_000)(team);
        startsCall(team);
      },
      when: (team) => team.does("a", uses(["read_file"], [], { dropped: DROPPED })),
      then: ["call.completed a", "conversation.compacted a 3 replies 60000 tokens"],
      owes: ["call a", "call b"],
    },
    {
      name: "ignores a decision in a summary reply",
      world,
      given: (team) => {
        allAnswer(team);
        team.does("a", says("hm", { usage: used(90_000, 1) }));
        const effect = "call_1_1_1_2_2_1";
        team.give({ type: "call_ready", effect, inputTokens: 1_000, compactionTokens: 2_000 });
      },
      when: (team) => team.does("a", votes("b", { dropped: DROPPED })),
      then: ["call.completed a", "conversation.compacted a 3 replies 60000 tokens"],
    },
  ]);

  it("is summarized by a call that reserves and is charged like any call, with a low output cap", () => {
    const team = new World({ ...world, every: { ...world.every, max_output_tokens: 64_000 } });
    team.ask();
    reaches(90_000)(team);
    const [started] = startsCall(team, 30_000);
    expect(started).toMatchObject({
      compacts: true,
      max_output_tokens: 8_192,
      reserved: { tokens: 38_192 },
    });
    team.does("a", summarizes);
    expect(team.turn.spentTokens).toBe(90_000 + 990);
    expect(team.agent("a").round?.contextTokens).toBe(30_000);
  });

  it("waits if the budget cannot pay for the summary call", () => {
    const team = new World({ ...world, budget: { max_tokens: 100_000 } });
    team.ask();
    team.does("b", answers("B"));
    reaches(90_000)(team);
    expect(startsCall(team, 30_000)[0]).toMatchObject({
      type: "call.deferred",
      input_tokens: 30_000,
    });
  });
});
