import { describe, expect, it } from "vitest";
import { byteLength } from "../../../src/coordination";
import { answers, cancel, rejects, says, tool, used, uses, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { eventLines } from "../event-lines";
import { World, type WorldOptions } from "../world";

const two = { agents: ["a", "b"] };

/** Both agents vote for `a`, so `a` starts to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("cancelling a turn", () => {
  table([
    {
      name: "before any text returns nothing",
      given: (world) => world.starts("a"),
      when: (world) => world.give(cancel),
      then: [
        "call.failed a cancelled final",
        "attempt.settled cancelled - -",
        "turn.cancelled - - -",
      ],
      owes: [],
    },
    {
      name: "before the first answer returns the longest partial text",
      given: (world) => {
        world.writing = { a: "short", b: "a longer text" };
      },
      when: (world) => world.give(cancel),
      then: ["attempt.settled cancelled - -", "turn.cancelled - - a longer text"],
    },
    {
      name: "during coordination returns the leading answer",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.starts("c");
      },
      when: (world) => world.give(cancel),
      then: [
        "call.failed c cancelled final",
        "attempt.settled cancelled b agent2.1 agent2.1:1",
        "turn.cancelled b B -",
      ],
      owes: [],
    },
    {
      name: "after an answer returns no partial text",
      world: two,
      given: (world) => {
        world.does("a", answers("A"));
        world.starts("b");
        world.writing = { b: "Half of B" };
      },
      when: (world) => world.give(cancel),
      then: [
        "call.failed b cancelled final",
        "attempt.settled cancelled a agent1.1",
        "turn.cancelled a A -",
      ],
    },
    {
      name: "in the presentation returns the winning answer and the text so far",
      world: two,
      given: (world) => {
        presenting(world);
        world.starts("a");
        world.writing = { a: "The fin" };
      },
      when: (world) => world.give(cancel),
      then: ["call.failed a cancelled final", "turn.cancelled a A The fin"],
      owes: [],
    },
    {
      name: "during the call for the verdict returns the complete final text",
      world: { ...two, rules: { max_orchestration_restarts: 1 } },
      given: (world) => {
        presenting(world);
        world.does("a", says("The final text."));
        world.starts("a");
      },
      when: (world) => world.give(cancel),
      then: ["call.failed a cancelled final", "turn.cancelled a A The final text."],
    },
    {
      name: "during the personas call returns nothing",
      world: { rules: { personas: true } },
      given: (world) => {
        world.starts("a");
        world.writing = { a: "You are a sceptic" };
      },
      when: (world) => world.give(cancel),
      then: [
        "call.failed a cancelled final",
        "attempt.settled cancelled - -",
        "turn.cancelled - - -",
      ],
    },
    {
      name: "while a tool runs makes the outcome of the tool unknown",
      world: { ...two, every: { tools: [tool("search")] } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.startsTool("a");
      },
      when: (world) => world.give(cancel),
      then: [
        "tool.unknown a search",
        "attempt.settled cancelled b agent2.1",
        "turn.cancelled b B -",
      ],
    },
    {
      name: "a second time changes nothing",
      given: (world) => world.give(cancel),
      when: (world) => world.give(cancel),
      then: [],
    },
    {
      name: "after its end changes nothing",
      world: two,
      given: (world) => {
        presenting(world);
        world.does("a", says("The final text."));
      },
      when: (world) => world.give(cancel),
      then: [],
    },
  ]);

  const ROW_BYTES = 1_800_000;
  const presentingWith = (answer: string, rules: WorldOptions["rules"] = {}) => {
    const world = new World({ ...two, rules });
    world.ask();
    world.does("a", answers(answer));
    world.does("b", answers("B"));
    world.does("a", votes("a"));
    world.does("b", votes("a"));
    return world;
  };
  const bytesOf = (event: unknown) => byteLength(JSON.stringify(event));

  it("returns the complete answer and text if both fit into one row", () => {
    const [answer, text] = ["€".repeat(40_000), "\u0001".repeat(100_000)];
    const world = presentingWith(answer);
    world.writing = { a: text };
    world.give(cancel);
    expect(world.ending).toMatchObject({ partial: { answer, text } });
  });

  it.each([
    {
      name: "an answer and a text full of control characters",
      answer: "\u0001".repeat(131_072),
      text: "\u0002".repeat(262_144),
    },
    {
      name: "a text full of quotation marks and three-byte characters",
      answer: "A",
      text: '"€'.repeat(400_000),
    },
    { name: "a text full of lone surrogates", answer: "A", text: "\ud800".repeat(400_000) },
  ])(
    "returns $name: the answer is complete, and the text is cut to fit into one row",
    ({ answer, text }) => {
      const world = presentingWith(answer);
      world.writing = { a: text };
      world.give(cancel);
      const { ending } = world;
      expect(bytesOf(ending)).toBeLessThan(ROW_BYTES);
      expect(bytesOf(ending)).toBeGreaterThan(ROW_BYTES * 0.85);
      expect(ending).toMatchObject({ partial: { answer } });
      const returnedText = ending.type === "turn.cancelled" ? ending.partial.text : null;
      expect(text.startsWith(returnedText ?? "-")).toBe(true);
    },
  );

  it("in a second attempt returns the rejected final text, and cuts the partial text to fit", () => {
    const world = new World({
      ...two,
      rules: { max_orchestration_restarts: 1, skip_coordination: true },
    });
    const final = "\u0001".repeat(262_144);
    world.ask();
    world.does("a", says(final));
    world.does("a", rejects("No.", "Again."));
    world.writing = { a: "\u0002".repeat(200_000) };
    world.give(cancel);
    expect(world.ending).toMatchObject({ partial: { answer: final } });
    expect(bytesOf(world.ending)).toBeLessThan(ROW_BYTES);
  });

  it("charges a call in flight by its reported usage, else by its reservation", () => {
    const world = new World();
    world.ask();
    world.starts("a");
    world.starts("b");
    world.reported = { [world.callOf("a")]: used(100, 20) };
    world.give(cancel);
    expect(world.events("call.failed").map(({ agent, tokens }) => [agent, tokens])).toEqual([
      ["a", 120],
      ["b", 5_000],
    ]);
    expect(world.ending).toMatchObject({
      usage: { input_tokens: 100, output_tokens: 20 },
      cost_usd: expect.closeTo(0.009_14, 9),
    });
  });

  it("allows the next turn, which starts with a new state", () => {
    const world = new World(two);
    world.ask();
    allAnswer(world);
    world.give(cancel);
    expect(eventLines(world.ask())).toEqual([
      "turn.started",
      "attempt.started 1",
      "round.started a #1 first []",
      "round.started b #1 first []",
    ]);
    expect(world.turn).toMatchObject({ number: 2, spentTokens: 0, effects: 0 });
  });
});
