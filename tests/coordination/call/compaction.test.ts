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
/** Replies of a model to a summary request. */
const sums = says("All I have done so far.", { dropped: DROPPED, usage: used(900, 90) });

/** One agent with tools, so that its conversation grows; its window has 100,000 tokens. */
const world = { agents: ["a", "b"], every: { context_window: 100_000 } };
/** The conversation after a reply with this many tokens. */
const reaches = (tokens: number) => (team: World) =>
  void team.does("a", says("hm", { usage: used(tokens - 50, 50) }));
/** Replies may be long, so the reservation is large. */
const wordy = { ...world, every: { ...world.every, max_output_tokens: 90_000 } };
/** Calls with a usage that differs from the length of their conversation. */
const UNTOLD: { why: string; usage: Usage | null }[] = [
  { why: "that nobody counted", usage: null },
  {
    why: "that searched, and read what it found",
    usage: { ...used(95_000, 50), hosted_uses: { web_search: 2 } },
  },
  {
    why: "of several requests, each of which read all before it",
    usage: { ...used(95_000, 50), requests: 2 },
  },
];
/** The agent's next call, with a conversation that can be summarized in part. */
const starts = (team: World, compactionTokens = 2_000) => {
  const effect = `call_1_1_1_1_${team.agent("a").round?.call.number}_${(team.agent("a").round?.call.sent ?? 0) + 1}`;
  return team.give({ type: "call_ready", effect, inputTokens: 1_000, compactionTokens });
};
const isTooLong = (team: World) => {
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
      name: "is planned again at once if a part can be summarized",
      world,
      given: reaches(50_000),
      when: (team) => team.does("a", compactible),
      then: ["call.failed a context_too_long retry in 0"],
      owes: ["call a", "call b"],
    },
    {
      name: "is preceded by a summary call, which has no tools",
      world,
      given: isTooLong,
      when: (team) => starts(team),
      then: ["call.started a compacts"],
    },
    {
      name: "is sent again after the summary",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
      },
      when: (team) => [...team.does("a", sums), ...starts(team)],
      then: [
        "call.completed a",
        "conversation.compacted a 3 replies 60000 tokens",
        "call.started a new_answer forced",
      ],
    },
    {
      name: "fails its round if it is still too long",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
        team.does("a", sums);
      },
      when: (team) => team.does("a", compactible),
      then: [
        "call.failed a context_too_long final",
        "round.failed a context_too_long",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "may be shortened again later in its round",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
        team.does("a", sums);
        team.does("a", says("hm"));
      },
      when: (team) => team.does("a", compactible),
      then: ["call.failed a context_too_long retry in 0"],
    },
    {
      name: "fails its round if the summary is missing",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
      },
      when: (team) => team.does("a", says("")),
      then: ["call.completed a", "round.failed a context_too_long", "round.started a #2 failed []"],
    },
    {
      name: "fails its round if the summary call is too long as well",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
      },
      when: (team) => team.does("a", compactible),
      then: [
        "call.failed a context_too_long final",
        "round.failed a context_too_long",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "waits for a summary after a transient failure",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
        team.does("a", fails());
        team.wait(60_000);
      },
      when: (team) => starts(team),
      then: ["call.started a compacts"],
    },
    {
      name: "requests the summary again after a restart in the middle of it",
      world,
      given: (team) => {
        isTooLong(team);
        starts(team);
      },
      when: (team) => [...team.interrupt(), ...starts(team)],
      then: ["call.failed a interrupted retry in 0", "call.started a compacts"],
    },
    {
      name: "is sent unchanged if no part can be summarized after a restart",
      world,
      given: isTooLong,
      when: (team) => team.starts("a"),
      then: ["call.started a new_answer forced"],
    },
  ]);

  it("names the failed remedy in its message", () => {
    const messages = (play: (team: World) => void) => {
      const team = new World(world);
      team.ask();
      play(team);
      return team.events("round.failed").map(({ message }) => message);
    };
    const once = (team: World) => {
      isTooLong(team);
      starts(team);
    };
    expect(messages((team) => team.does("a", tooLong()))).toEqual([
      "The conversation is too long for the model, and nothing of it can be summed up: 5000 tokens are too many.",
    ]);
    expect(
      messages((team) => void [once(team), team.does("a", sums), team.does("a", compactible)]),
    ).toEqual([
      "The conversation is too long for the model even after it was summed up: 5000 tokens are too many.",
    ]);
    expect(messages((team) => void [once(team), team.does("a", compactible)])).toEqual([
      "The conversation had become too long, and summing it up failed: 5000 tokens are too many.",
    ]);
    expect(messages((team) => void [once(team), team.does("a", says(""))])).toEqual([
      "The conversation is too long for the model, and the model wrote no summary of it.",
    ]);
  });
});

describe("a conversation that leaves too little of the window", () => {
  table([
    {
      name: "stays as it is up to 85 %",
      world,
      given: reaches(85_000),
      when: (team) => starts(team),
      then: ["call.started a new_answer forced"],
    },
    {
      name: "is summarized above 85 %",
      world,
      given: reaches(85_001),
      when: (team) => starts(team),
      then: ["call.started a compacts"],
    },
    ...UNTOLD.map(({ why, usage }) => ({
      name: `is not measured by a call ${why}`,
      world: wordy,
      given: (team: World) => void team.does("a", says("hm", { usage })),
      when: (team: World) => starts(team),
      then: ["call.started a new_answer forced"],
    })),
    ...UNTOLD.map(({ why, usage }) => ({
      name: `is measured by the call before a call ${why}`,
      world: wordy,
      given: (team: World) => {
        reaches(90_000)(team);
        team.does("a", says("hm", { usage }));
      },
      when: (team: World) => starts(team),
      then: ["call.started a compacts"],
    })),
    {
      name: "stays as it is if nothing can be summarized",
      world,
      given: reaches(99_000),
      when: (team) => team.starts("a"),
      then: ["call.started a new_answer forced"],
    },
    {
      name: "continues without the dropped messages",
      world,
      given: (team) => {
        reaches(90_000)(team);
        starts(team);
        team.does("a", sums);
      },
      when: (team) => starts(team),
      then: ["call.started a new_answer forced"],
    },
    {
      name: "stays as it is without a summary, because it may still fit",
      world,
      given: (team) => {
        reaches(90_000)(team);
        starts(team);
      },
      when: (team) => [...team.does("a", says("")), ...starts(team)],
      then: ["call.completed a", "call.started a new_answer forced"],
    },
    {
      name: "stays as it is if the summary fails finally",
      world,
      given: (team) => {
        reaches(90_000)(team);
        starts(team);
      },
      when: (team) => [...team.does("a", fails({ class: "content_filter" })), ...starts(team)],
      then: ["call.failed a content_filter retry in 0", "call.started a new_answer forced"],
    },
    {
      name: "fails its round if the summary fails transiently again and again",
      world,
      given: (team) => {
        reaches(90_000)(team);
        for (let n = 0; n < 4; n += 1) {
          starts(team);
          team.does("a", fails());
          team.wait(60_000);
        }
        starts(team);
      },
      when: (team) => team.does("a", fails()),
      then: [
        "call.failed a transient final",
        "round.failed a server_error",
        "round.started a #2 failed []",
      ],
    },
    {
      name: "ignores the tools that a summary calls",
      world,
      given: (team) => {
        reaches(90_000)(team);
        starts(team);
      },
      when: (team) => team.does("a", uses(["read_file"], [], { dropped: DROPPED })),
      then: ["call.completed a", "conversation.compacted a 3 replies 60000 tokens"],
      owes: ["call a", "call b"],
    },
    {
      name: "ignores a decision in a summary",
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

  it("is summarized at the price of a short reply, which the budget pays", () => {
    const team = new World({ ...world, every: { ...world.every, max_output_tokens: 64_000 } });
    team.ask();
    reaches(90_000)(team);
    const [started] = starts(team, 30_000);
    expect(started).toMatchObject({
      compacts: true,
      max_output_tokens: 8_192,
      reserved: { tokens: 38_192 },
    });
    team.does("a", sums);
    expect(team.turn.spentTokens).toBe(90_000 + 990);
    expect(team.agent("a").round?.contextTokens).toBe(30_000);
  });

  it("waits if the budget cannot pay for the summary", () => {
    const team = new World({ ...world, budget: { max_tokens: 100_000 } });
    team.ask();
    team.does("b", answers("B"));
    reaches(90_000)(team);
    expect(starts(team, 30_000)[0]).toMatchObject({ type: "call.deferred", input_tokens: 30_000 });
  });
});
