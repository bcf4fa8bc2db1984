import { describe, expect, it } from "vitest";
import { answers, anAnswer, decides, fails, says, tool, uses, votes, wrote } from "../builders";
import { allAnswer, table } from "../rule-table";
import { eventLines } from "../event-lines";
import { World } from "../world";

const two = { agents: ["a", "b"] };

/** Both agents vote for `a`, so `a` starts to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("the presentation", () => {
  table([
    {
      name: "is one more call to the winner, without `vote` and `new_answer`",
      world: two,
      given: presenting,
      when: (world) => world.starts("a"),
      then: ["call.started a nothing"],
    },
    {
      name: "is the winning answer with its files, without a call, if the config reuses this answer",
      world: {
        ...two,
        every: { workspace: true },
        rules: { reuse_winning_answer: true, max_orchestration_restarts: 1 },
      },
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("a"));
      },
      when: (world) => world.does("b", votes("a")),
      then: [
        "call.completed b",
        "vote.cast b agent1.1",
        "attempt.settled consensus a agent1.1 agent1.1:2",
        "presentation.started a agent1.1 from agent1.1",
        "presentation.completed a agent1.final answer",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "starts with the files of the winning answer",
      world: { ...two, every: { workspace: true } },
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("a"));
      },
      when: (world) => world.does("b", votes("a")),
      then: [
        "call.completed b",
        "vote.cast b agent1.1",
        "attempt.settled consensus a agent1.1 agent1.1:2",
        "presentation.started a agent1.1 from agent1.1",
      ],
    },
    {
      name: "ends the turn with its text",
      world: two,
      given: presenting,
      when: (world) => world.does("a", says("The final text.")),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final presentation",
        "turn.completed a agent1.final consensus",
      ],
      owes: [],
    },
    {
      name: "continues while the presenter uses tools",
      world: { ...two, every: { tools: [tool("search")] } },
      given: presenting,
      when: (world) => [
        ...world.does("a", uses(["search"])),
        ...world.tool("a"),
        ...world.starts("a"),
      ],
      then: ["call.completed a", "tool.completed a search ok", "call.started a nothing"],
    },
    {
      name: "does not receive answers that its presenter has not seen",
      world: { every: { tools: [tool("search")] }, rules: { orchestrator_timeout_ms: 100_000 } },
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", votes("a"));
        world.does("c", answers("C2"));
        world.wait(80_000);
        world.does("a", uses(["search"]));
      },
      when: (world) => world.tool("a"),
      then: ["tool.completed a search ok"],
      owes: ["call a"],
    },
    {
      name: "is replaced by the winning answer when its provider ended it for an unknown reason",
      world: two,
      given: presenting,
      when: (world) => world.does("a", says("The fin", { stopReason: "unknown" })),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer unknown_ending",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "runs no tools of a reply that ended for an unknown reason",
      world: { ...two, every: { tools: [tool("search")] } },
      given: presenting,
      when: (world) => world.does("a", uses(["search"], [], { stopReason: "unknown" })),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer unknown_ending",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "of a single agent is its text so far when its provider ended it for an unknown reason",
      world: { agents: ["a"], rules: { skip_coordination: true } },
      given: (world) => {
        world.writing = { a: "The fin" };
      },
      when: (world) => world.does("a", says("The fin", { stopReason: "unknown" })),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final partial unknown_ending",
        "turn.completed a agent1.final skipped",
      ],
    },
    {
      name: "is replaced by the winning answer when it is empty",
      world: two,
      given: presenting,
      when: (world) => world.does("a", says(" \n ")),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer empty",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is replaced by the winning answer when the reply only calls tools that are not offered",
      world: two,
      given: presenting,
      when: (world) => world.does("a", decides([anAnswer("again")])),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer empty",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is replaced by the winning answer when the text was cut",
      world: two,
      given: presenting,
      when: (world) => world.does("a", says("The fin", { stopReason: "length" })),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer length",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is replaced by the winning answer when the provider withheld the text",
      world: two,
      given: presenting,
      when: (world) => world.does("a", says("…", { stopReason: "refusal" })),
      then: [
        "call.completed a",
        "presentation.completed a agent1.final answer refusal",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "is tried again after a transient failure",
      world: two,
      given: presenting,
      when: (world) => world.does("a", fails({ retryAfterMs: 5_000 })),
      then: ["call.failed a transient retry in 5000"],
      owes: ["call a in 5000"],
    },
    {
      name: "has only one round: if this round fails, the winning answer replaces the text",
      world: two,
      given: presenting,
      when: (world) =>
        world.does("a", fails({ class: "context_too_long", code: "context_too_long" })),
      then: [
        "call.failed a context_too_long final",
        "presentation.completed a agent1.final answer context_too_long",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "ends at the turn's deadline",
      world: { ...two, rules: { orchestrator_timeout_ms: 10_000 } },
      given: (world) => {
        presenting(world);
        world.starts("a");
        world.wait(9_999);
        world.writing = { a: "The fin" };
      },
      when: (world) => world.wait(1),
      then: [
        "call.failed a cancelled final",
        "presentation.completed a agent1.final answer deadline",
        "turn.completed a agent1.final consensus",
      ],
    },
    {
      name: "ends when its call without tools, after the call limit, returns no text",
      world: { ...two, every: { tools: [tool("search")] } },
      given: (world) => {
        presenting(world);
        for (let n = 0; n < 50; n += 1) {
          world.does("a", uses(["search"]));
          world.tool("a");
        }
      },
      when: (world) => world.does("a", uses(["search"])),
      then: [
        "call.completed a",
        "tool.completed a search refused",
        "presentation.completed a agent1.final answer call_cap",
        "turn.completed a agent1.final consensus",
      ],
    },
    ...[
      {
        cause: "its call limit",
        when: (world: World) => world.does("a", uses(["search"])),
        code: "call_cap",
      },
      {
        cause: "a failing provider",
        when: (world: World) => world.does("a", fails({ class: "quota", code: "quota" })),
        code: "quota",
      },
      { cause: "the deadline", when: (world: World) => world.wait(10_000), code: "deadline" },
    ].map(({ cause, when, code }) => ({
      name: `that ends because of ${cause} returns its changed files with the answer's text (D3)`,
      world: {
        ...two,
        every: { tools: [tool("search")], workspace: true },
        rules: { max_calls_per_round: 1, orchestrator_timeout_ms: 10_000 },
      },
      given: (world: World) => {
        presenting(world);
        if (code === "call_cap") {
          world.does("a", uses(["search"]));
          world.tool("a");
        }
        world.starts("a");
        world.files = wrote(5, { edits: 4 });
      },
      when: (world: World) => when(world).slice(-2),
      then: [
        `presentation.completed a agent1.final answer ${code} with agent1.final 4 changed`,
        "turn.completed a agent1.final consensus",
      ],
    })),
    {
      name: "is not requested from a winner that has failed",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        for (let n = 0; n < 3; n += 1) world.does("b", fails({ class: "quota", code: "quota" }));
      },
      when: (world) => world.does("c", votes("b")),
      then: [
        "call.completed c",
        "vote.cast c agent2.1",
        "attempt.settled consensus b agent2.1 agent2.1:2",
        "presentation.started b agent2.1",
        "presentation.completed b agent2.final answer winner_failed",
        "turn.completed b agent2.final consensus",
      ],
    },
    {
      name: "is requested from a winner that only used up its calls",
      world: { ...two, every: { tools: [tool("search")] } },
      given: (world) => {
        allAnswer(world);
        for (let n = 0; n < 50; n += 1) {
          world.does("a", uses(["search"]));
          world.tool("a");
        }
        world.does("a", says("hm"));
      },
      when: (world) => world.does("b", votes("a")).slice(-1),
      then: ["presentation.started a agent1.1"],
      owes: ["call a"],
    },
  ]);

  it("names the tools that it executed, and no others", () => {
    const world = new World({
      ...two,
      every: { tools: [tool("search"), tool("send"), tool("draw")] },
    });
    world.ask();
    presenting(world);
    world.does("a", uses(["search", "nothing", "send", "draw"]));
    world.tool("a");
    world.startsTool("a");
    world.wait(1_000_000);
    expect(world.events("presentation.completed")).toMatchObject([
      { fallback: "deadline", tools: ["search", "send"] },
    ]);
  });

  it("has the same text in its own event and in the turn's last event", () => {
    const world = new World();
    world.play({
      a: [answers("A"), votes("b")],
      b: { coordination: [answers("B"), votes("b")], presentation: [says("The final text.")] },
      c: [answers("C"), votes("a")],
    });
    expect(world.events("presentation.completed")).toMatchObject([
      { agent: "b", label: "agent2.final", content: "The final text." },
    ]);
    expect(world.ending).toMatchObject({
      winner: "b",
      label: "agent2.final",
      attempt: 1,
      answer: "The final text.",
    });
  });
});

describe("a single agent, or a team that skips coordination", () => {
  const alone = { agents: ["a"], rules: { skip_coordination: true } };
  it("starts with the presentation", () => {
    const world = new World({ agents: ["a", "b"], rules: { skip_coordination: true } });
    expect(eventLines(world.ask()).slice(2)).toEqual([
      "attempt.started 1",
      "attempt.settled skipped a -",
      "presentation.started a -",
    ]);
    expect(world.owes()).toEqual(["call a"]);
    expect(eventLines(world.does("a", says("Done.")))).toEqual([
      "call.completed a",
      "presentation.completed a agent1.final presentation",
      "turn.completed a agent1.final skipped",
    ]);
  });

  table([
    {
      name: "presents its text so far if its call fails",
      world: alone,
      given: (world) => {
        world.writing = { a: "Half of it" };
      },
      when: (world) => world.does("a", fails({ class: "quota", code: "quota" })),
      then: [
        "call.failed a quota final",
        "presentation.completed a agent1.final partial quota",
        "turn.completed a agent1.final skipped",
      ],
    },
    {
      name: "fails if its call fails and it wrote nothing",
      world: alone,
      when: (world) => world.does("a", fails({ class: "bad_credentials", code: "invalid_key" })),
      then: ["call.failed a bad_credentials final", "turn.failed no_answer a:invalid_key"],
    },
    {
      name: "may use all of the turn's time",
      world: { ...alone, rules: { skip_coordination: true, orchestrator_timeout_ms: 10_000 } },
      given: (world) => world.starts("a"),
      when: (world) => world.wait(9_999),
      then: [],
    },
    {
      name: "coordinates with itself if the config requests the full protocol",
      world: { agents: ["a"] },
      given: (world) => world.does("a", answers("A")),
      when: (world) => world.does("a", votes("a")),
      then: [
        "call.completed a",
        "vote.cast a agent1.1",
        "attempt.settled consensus a agent1.1 agent1.1:1",
        "presentation.started a agent1.1",
      ],
    },
  ]);
});
