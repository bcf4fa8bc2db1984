import { describe, expect, it } from "vitest";
import { failInternally } from "../../src/coordination/turn/turn";
import {
  anAnswer,
  answers,
  aVote,
  cancel,
  decides,
  fails,
  says,
  tool,
  uses,
  votes,
} from "./builders";
import { allAnswer, giveLargeAnswers, SIX_AGENTS } from "./rule-table";
import { World, type WorldOptions } from "./world";

/**
 * The exact texts of refusals and failures, which models or people read. A refusal must say what to
 * do next.
 */

type Row = {
  code: string;
  world?: WorldOptions;
  given?: (world: World) => void;
  when: (world: World) => void;
  message: string;
};

/** All records that may have a code and a message: events, and the agents in `turn.failed`. */
const messages = (world: World): unknown[] => [
  ...world.log,
  ...world.events("turn.failed").flatMap(({ agents }) => agents),
];

function expectMessages(rows: Row[]): void {
  it.each(rows)("$code: $message", ({ code, world: options, given, when, message }) => {
    const world = new World(options);
    world.ask();
    given?.(world);
    when(world);
    expect(messages(world)).toContainEqual(expect.objectContaining({ code, message }));
  });
}

describe("a refused answer", () => {
  expectMessages([
    {
      code: "answer_limit",
      world: { rules: { max_new_answers_per_agent: 1 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      message: "You have given all 1 answers you may give. Vote.",
    },
    {
      code: "team_limit",
      world: { rules: { max_new_answers_global: 3 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      message: "The team has given all the answers it may give. Vote.",
    },
    {
      code: "size_limit",
      world: SIX_AGENTS,
      given: (world) => giveLargeAnswers(world, 64),
      when: (world) => world.does("a", answers("A2")),
      message: "The team's answers have filled the 8 MB they may take together. Vote.",
    },
    {
      code: "lead_limit",
      world: { rules: { fairness_lead_cap_answers: 0 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      message: "You are too many answers ahead of others who are still working. Vote.",
    },
    {
      code: "empty_answer",
      when: (world) => world.does("a", answers("")),
      message: "The answer is empty. Write the complete answer into `content`.",
    },
    {
      code: "answer_too_large",
      when: (world) => world.does("a", answers("x".repeat(128 * 1024 + 1))),
      message: "The answer is over 128 KB. Put the bulk of it in a file.",
    },
    {
      code: "duplicate_answer",
      given: allAnswer,
      when: (world) => world.does("a", answers("B")),
      message: "This is identical to an answer you were shown. Vote for it, or say something new.",
    },
    {
      code: "too_similar",
      world: { rules: { answer_novelty_requirement: "strict" } },
      given: (world) => {
        for (const id of world.ids) world.does(id, answers(`one two three of ${id}`));
      },
      when: (world) => world.does("a", answers("one two three of nobody")),
      message:
        "This is too close to an answer you were shown. Vote for it, or take a really different approach.",
    },
    {
      code: "choose_one",
      given: allAnswer,
      when: (world) => world.does("a", decides([anAnswer("A2"), aVote("b")])),
      message: "Choose one: either `new_answer` or `vote`.",
    },
    {
      code: "two_answers",
      when: (world) => world.does("a", decides([anAnswer("A"), anAnswer("A2")])),
      message: "Give exactly one answer, once.",
    },
    {
      code: "reply_cut",
      when: (world) => world.does("a", answers("A", { stopReason: "length" })),
      message: "The reply was cut at its output limit, so nothing in it counts. Be shorter.",
    },
  ]);
});

describe("a refused vote", () => {
  expectMessages([
    {
      code: "answer_first",
      when: (world) => world.does("a", votes("b")),
      message: "Give your own answer with `new_answer` before you vote.",
    },
    {
      code: "unknown_alias",
      given: allAnswer,
      when: (world) => world.does("a", votes("agent99")),
      message: "There is no such agent. Vote for one of: agent1, agent2, agent3.",
    },
    {
      code: "reason_too_long",
      given: allAnswer,
      when: (world) => world.does("a", decides([aVote("b", "x".repeat(4_097))])),
      message: "Give the reason in at most 4 KB.",
    },
  ]);
});

it("a vote for an agent without an answer is refused with the sorted list of valid aliases", () => {
  const world = new World();
  world.ask();
  world.does("b", answers("B"));
  world.does("a", answers("A"));
  world.wait(5_000);
  world.does("a", votes("c"));
  const valid = ["a", "b"].map(world.alias).sort();
  expect(world.events("vote.refused")).toMatchObject([
    {
      code: "no_answer",
      message: `That agent has no answer yet. Vote for one of: ${valid.join(", ")}.`,
    },
  ]);
});

describe("a failed or cancelled round", () => {
  const every = { tools: [tool("search")] };
  const searches = (world: World): void => {
    for (let n = 0; n < 50; n += 1) {
      world.does("a", uses(["search"]));
      world.tool("a");
    }
    world.does("a", uses(["search"]));
  };
  expectMessages([
    {
      code: "refusal",
      when: (world) => world.does("a", says("", { stopReason: "refusal" })),
      message: "The model's reply was withheld by its provider.",
    },
    {
      code: "no_decision",
      when: (world) => {
        for (let n = 0; n < 4; n += 1) world.does("a", says(""));
      },
      message: "It neither answered nor voted after 3 reminders.",
    },
    {
      code: "call_cap",
      world: { every },
      when: searches,
      message: "It used all 50 calls of a round.",
    },
    {
      code: "cancelled",
      given: (world) => world.starts("a"),
      when: (world) => world.give(cancel),
      message: "No longer needed.",
    },
  ]);
});

describe("a presentation without a result", () => {
  const alone: WorldOptions = {
    agents: ["a"],
    rules: { skip_coordination: true },
    every: { tools: [tool("search")] },
  };
  expectMessages([
    {
      code: "length",
      world: alone,
      when: (world) => world.does("a", says("", { stopReason: "length" })),
      message: "The final text was cut at its output limit.",
    },
    {
      code: "content_filter",
      world: alone,
      when: (world) => world.does("a", says("", { stopReason: "content_filter" })),
      message: "The final text was withheld by its provider.",
    },
    {
      code: "unknown_ending",
      world: alone,
      when: (world) => world.does("a", says("", { stopReason: "unknown" })),
      message: "The provider returned an unknown stop reason, so the final text may be incomplete.",
    },
    {
      code: "empty",
      world: alone,
      when: (world) => world.does("a", says(" ")),
      message: "The final text was empty.",
    },
    {
      code: "deadline",
      world: alone,
      given: (world) => world.starts("a"),
      when: (world) => world.wait(1_000_000),
      message: "The turn's time is up.",
    },
    {
      code: "call_cap",
      world: alone,
      when: (world) => {
        for (let n = 0; n < 50; n += 1) {
          world.does("a", uses(["search"]));
          world.tool("a");
        }
        world.does("a", uses(["search"]));
      },
      message: "The presenter used all 50 calls.",
    },
    {
      code: "no_answer",
      world: alone,
      when: (world) => world.does("a", fails({ class: "bad_credentials", code: "invalid_key" })),
      message: "No agent produced an answer.",
    },
  ]);
});

it("the message of an internal error says that answers are stored, and what to do next", () => {
  const world = new World();
  world.ask();
  expect(failInternally(world.state, world.now).at(-1)?.event).toMatchObject({
    code: "internal",
    message: "Internal error. The answers so far are stored. Start the turn again.",
  });
});
