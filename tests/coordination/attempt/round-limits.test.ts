import { describe, expect, it } from "vitest";
import { answers, says, tool, uses, votes, wrote } from "../builders";
import { allAnswer, table } from "../rule-table";
import { eventLines } from "../event-lines";
import { World, type WorldOptions } from "../world";

const search = { tools: [tool("search")] };
const files = { ...search, workspace: true };
const fiveCalls = { max_calls_per_round: 5 };
const timed = { initial_round_timeout_ms: 20_000, round_timeout_grace_ms: 10_000 };
const two: WorldOptions = { agents: ["a", "b"], every: search, rules: fiveCalls };
const alone: WorldOptions = {
  agents: ["a"],
  every: files,
  rules: { ...fiveCalls, skip_coordination: true },
};

const searches = (id: string, times: number) => (world: World) => {
  for (let n = 0; n < times; n += 1) {
    world.does(id, uses(["search"]));
    world.tool(id);
  }
};

/** All agents have an answer, and the agent `id` has used all calls of its second round. */
const allCallsUsed = (id: string) => (world: World) => {
  allAnswer(world);
  searches(id, 5)(world);
};

describe("before a limit (D3)", () => {
  table([
    {
      name: "an agent is not warned while it has more than 3 calls left",
      world: two,
      given: searches("a", 1),
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer"],
    },
    {
      name: "an agent is warned when it has 3 calls left, including the next call",
      world: two,
      given: searches("a", 2),
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer 3 calls left"],
    },
    {
      name: "an agent is warned again in its last call",
      world: two,
      given: searches("a", 4),
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer 1 calls left"],
    },
    {
      name: "an agent is warned with the first tool result after its round's time",
      world: { ...two, rules: timed },
      given: (world) => {
        searches("a", 1)(world);
        world.wait(20_000);
      },
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer 10 s left"],
    },
    {
      name: "an agent is not warned of time before its first tool result",
      world: { ...two, rules: timed },
      given: (world) => void world.wait(20_000),
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer"],
    },
    {
      name: "an agent is warned before its turn's coordination ends",
      world: { ...two, rules: { initial_round_timeout_ms: null } },
      given: (world) => {
        searches("a", 1)(world);
        world.wait(880_000 - 50_000 - 100_000);
      },
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer 100 s left"],
    },
    {
      name: "a presenter is warned as well",
      world: alone,
      given: searches("a", 2),
      when: (world) => world.starts("a"),
      then: ["call.started a nothing 3 calls left"],
    },
  ]);
});

describe("at the limit of calls (D3)", () => {
  table([
    {
      name: "an agent without an answer is offered only `new_answer`",
      world: two,
      given: searches("a", 5),
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer forced 0 calls left"],
    },
    {
      name: "an agent with an answer is offered only its decisions",
      world: two,
      given: allCallsUsed("a"),
      when: (world) => world.starts("a"),
      then: ["call.started a new_answer|vote forced 0 calls left"],
    },
    {
      name: "the call after the last call with tools may decide",
      world: two,
      given: allCallsUsed("a"),
      when: (world) => world.does("a", votes("a")),
      then: ["call.completed a", "vote.cast a agent1.1"],
    },
    {
      name: "a tool that was not offered is refused, and a decision in the same reply counts",
      world: two,
      given: searches("a", 5),
      when: (world) =>
        world.does("a", answers("A", { tools: [{ toolCall: "s", name: "search" }] })),
      then: ["call.completed a", "tool.completed a search refused", "answer.submitted a agent1.1"],
    },
    {
      name: "text and files of an agent without an answer become its answer, and the agent continues",
      world: { ...two, every: files },
      given: (world) => {
        world.does("b", answers("B"));
        searches("a", 5)(world);
        world.writing = { a: "so far" };
        world.files = wrote(2);
      },
      when: (world) => world.does("a", uses(["search"])),
      then: [
        "call.completed a",
        "tool.completed a search refused",
        "answer.submitted a agent1.1 partial with agent1.1",
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
    },
    {
      name: "an agent with files and no text answers with a sentence that names them",
      world: { ...two, every: files },
      given: (world) => {
        searches("a", 5)(world);
        world.files = wrote(2, { written: ["index.html", "src/app.js"] });
      },
      when: (world) => world.does("a", says("")),
      then: ["call.completed a", "answer.submitted a agent1.1 partial with agent1.1"],
    },
    {
      name: "an agent with neither text nor files fails",
      world: two,
      given: searches("a", 5),
      when: (world) => world.does("a", says("")),
      then: ["call.completed a", "agent.failed a call_cap"],
    },
    {
      name: "an agent with an answer keeps it and abstains",
      world: two,
      given: allCallsUsed("a"),
      when: (world) => world.does("a", says("hm")),
      then: ["call.completed a", "agent.abstained a call_cap"],
    },
    {
      name: "an agent whose decision is refused may correct it in two more calls",
      world: two,
      given: (world) => {
        allCallsUsed("a")(world);
        world.does("a", answers("B"));
        world.does("a", answers("B"));
      },
      when: (world) => world.does("a", answers("B")),
      then: [
        "call.completed a",
        "answer.refused a duplicate_answer",
        "round.nudged a 3",
        "agent.abstained a call_cap",
      ],
    },
    {
      name: "an agent whose vote is voided later may vote again",
      world: two,
      given: (world) => {
        allCallsUsed("a")(world);
        world.does("a", answers("B"));
        world.does("a", votes("a"));
        world.does("b", answers("B2"));
        world.starts("a");
        world.does("a", votes("zed"));
        world.does("a", votes("zed"));
      },
      when: (world) => world.does("a", votes("b")),
      then: ["call.completed a", "vote.cast a agent2.2"],
    },
  ]);
});

describe("the time limit of a round (D3)", () => {
  const world: WorldOptions = { ...two, rules: timed };
  const later: WorldOptions = {
    ...two,
    rules: { subsequent_round_timeout_ms: 20_000, round_timeout_grace_ms: 10_000 },
  };
  table([
    {
      name: "does not end a running call",
      world,
      given: (at) => at.starts("a"),
      when: (at) => at.wait(30_000),
      then: [],
    },
    {
      name: "does not end the tools of a running call, and then the next call asks for a decision",
      world,
      given: (at) => {
        at.starts("a");
        at.wait(31_000);
        at.does("a", uses(["search"]));
        at.tool("a");
      },
      when: (at) => at.starts("a"),
      then: ["call.started a new_answer forced 0 s left"],
    },
    {
      name: "ends a round without a decision when twice the time has passed",
      world: { ...world, every: files },
      given: (at) => {
        at.does("b", answers("B"));
        at.starts("a");
        at.files = wrote(1, { written: ["index.html"] });
      },
      when: (at) => at.wait(60_000),
      then: [
        "call.failed a cancelled final",
        "answer.submitted a agent1.1 partial with agent1.1",
        "round.started a #2 answered [agent1.1 agent2.1]",
        "round.started b #2 answered [agent1.1 agent2.1]",
      ],
    },
    {
      name: "of 5 s with 5 s of grace does not fail an agent that runs three tools of 3 s each",
      world: { ...two, rules: { initial_round_timeout_ms: 5_000, round_timeout_grace_ms: 5_000 } },
      given: (at) => {
        for (let n = 0; n < 3; n += 1) {
          at.does("a", uses(["search"]));
          at.wait(3_000);
          at.tool("a");
        }
      },
      when: (at) => at.does("a", answers("A")),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "makes an agent with an answer abstain in a later round",
      world: later,
      given: (at) => {
        allAnswer(at);
        at.does("b", votes("b"));
        at.starts("a");
      },
      when: (at) => at.wait(60_000),
      then: [
        "call.failed a cancelled final",
        "agent.abstained a round_timeout",
        "attempt.settled consensus b agent2.1 agent2.1:1",
        "presentation.started b agent2.1",
      ],
    },
    {
      name: "starts again when the vote of a later round is voided",
      world: later,
      given: (at) => {
        allAnswer(at);
        at.does("a", votes("b"));
        at.wait(15_000);
        at.does("b", answers("B2"));
        at.wait(15_000);
      },
      when: (at) => at.starts("a"),
      then: ["call.started a new_answer|vote"],
    },
  ]);
});

describe("a single agent that is stopped (D3)", () => {
  it.each([
    { name: "its partial text", writing: "Half of it", content: "Half of it" },
    {
      name: "a sentence that names its files if it wrote no text",
      writing: "",
      content:
        "The agent was stopped before it wrote an answer. It left these files: `index.html`, `src/app.js`.",
    },
  ])("presents $name, with its files", ({ writing, content }) => {
    const world = new World(alone);
    world.ask();
    searches("a", 5)(world);
    world.writing = { a: writing };
    world.files = wrote(2, { written: ["index.html", "src/app.js"] });
    expect(eventLines(world.does("a", uses(["search"])))).toEqual([
      "call.completed a",
      "tool.completed a search refused",
      "presentation.completed a agent1.final partial call_cap",
      "turn.completed a agent1.final skipped",
    ]);
    expect(world.events("presentation.completed")).toMatchObject([
      { content, snapshot: "agent1.final" },
    ]);
  });

  it("gets one call without tools before it is stopped", () => {
    const world = new World(alone);
    world.ask();
    searches("a", 5)(world);
    expect(eventLines(world.does("a", says("Done.")))).toEqual([
      "call.completed a",
      "presentation.completed a agent1.final presentation",
      "turn.completed a agent1.final skipped",
    ]);
  });

  it("keeps text and files at its turn's deadline", () => {
    const world = new World(alone);
    world.ask();
    world.starts("a");
    world.writing = { a: "Half of it" };
    world.files = wrote(1);
    world.wait(1_000_000);
    expect(world.events("presentation.completed")).toMatchObject([
      { source: "partial", snapshot: "agent1.final" },
    ]);
  });

  it("keeps text and files at the end of its round's time", () => {
    const world = new World({ ...alone, rules: { ...timed, skip_coordination: true } });
    world.ask();
    world.starts("a");
    world.files = wrote(1, { written: ["index.html"] });
    world.wait(60_000);
    expect(world.events("presentation.completed")).toMatchObject([
      { fallback: "round_timeout", snapshot: "agent1.final" },
    ]);
  });
});
