import { describe, expect, it } from "vitest";
import { listing, tool, uses } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const look = tool("mcp__box__look", { idempotent: true });
const send = tool("mcp__box__send", { acts_outside: true });
const every = { tools: [tool("search")], tool_servers: ["box", "mail"] };
const one = { agents: ["a", "b"], each: { a: { tool_servers: ["box"] } } };
const has = (tools: readonly ReturnType<typeof tool>[] | null) => [{ server: "box", tools }];

describe("tool servers", () => {
  table([
    {
      name: "are listed before the agent is called, without delay for other agents",
      world: one,
      when: (at) => at.wait(10),
      then: [],
      owes: ["listing a", "call b"],
    },
    {
      name: "have replied: the agent is called",
      world: one,
      when: (at) => at.lists("a", has([look, send])),
      then: ["tools.listed a box mcp__box__look mcp__box__send"],
      owes: ["call a", "call b"],
    },
    {
      name: "that cannot be reached are logged, and the agent continues without them",
      world: one,
      when: (at) => at.lists("a", has(null)),
      then: ["tools.listed a box : It could not be reached."],
      owes: ["call a", "call b"],
    },
    {
      name: "delay the call until all have replied",
      world: { agents: ["a"], rules: { skip_coordination: true }, every },
      when: (at) => at.lists("a", has([look])),
      then: ["tools.listed a box mcp__box__look"],
      owes: ["listing a"],
    },
    {
      name: "that no config names are ignored",
      world: one,
      when: (at) => at.lists("b", has([look])),
      then: [],
    },
    {
      name: "without changes are not logged again",
      world: one,
      given: (at) => at.lists("a", has([look])),
      when: (at) => at.lists("a", has([look])),
      then: [],
    },
    {
      name: "with changes are logged, and their new listing applies from then on",
      world: one,
      given: (at) => at.lists("a", has([look, send])),
      when: (at) => [...at.lists("a", has([look])), ...at.does("a", uses(["mcp__box__send"]))],
      then: [
        "tools.listed a box mcp__box__look",
        "call.completed a",
        "tool.completed a mcp__box__send error",
      ],
    },
    {
      name: "that keep changing are logged at most eight times in a turn",
      world: one,
      given: (at) => {
        for (let n = 0; n < 8; n += 1) at.lists("a", has(n % 2 ? [look] : [send]));
      },
      when: (at) => at.lists("a", has([send])),
      then: [],
    },
  ]);

  it("are listed once in a turn, not in each round and attempt", () => {
    const at = new World(one);
    at.ask();
    at.lists("a", has([look]));
    allAnswer(at);
    expect(at.owes()).toEqual(["call a", "call b"]);
  });

  it("are listed again in the next turn", () => {
    const at = new World({
      agents: ["a"],
      rules: { skip_coordination: true },
      every: { tool_servers: ["box"] },
    });
    at.play({});
    expect(at.events("tools.listed")).toHaveLength(1);
    at.ask("And now?");
    expect(at.owes()).toEqual(["listing a"]);
  });

  it("have tools with the usual recovery: repeated after a restart only if that is safe", () => {
    const at = new World(one);
    at.ask();
    at.lists("a", has([look, send]));
    at.does("a", uses(["mcp__box__look", "mcp__box__send"]));
    at.startsTool("a");
    at.startsTool("a");
    const types = at
      .interrupt()
      .map((event) => ("name" in event ? `${event.type} ${event.name}` : event.type));
    expect(types).toEqual(["tool.interrupted mcp__box__look", "tool.unknown mcp__box__send"]);
  });

  it("have tools with side effects: planned during coordination in planning mode, and run for the presenter", () => {
    const at = new World({
      agents: ["a"],
      rules: { planning_mode: true },
      every: { tool_servers: ["box"] },
    });
    at.ask();
    at.lists("a", has([look, send]));
    at.does("a", uses(["mcp__box__send", "mcp__box__look"]));
    at.tool("a");
    expect(at.events("tool.completed").map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "mcp__box__send planned",
      "mcp__box__look ok",
    ]);
  });

  it("are not part of a verdict or of personas", () => {
    const at = new World({
      agents: ["a", "b"],
      rules: { personas: true },
      every: { tool_servers: ["box"] },
    });
    at.ask();
    expect(at.owes()).toEqual(["call a"]);
  });
});

describe("a listing", () => {
  it("is plain data that folds to the same state", () => {
    const at = new World(one);
    at.ask();
    at.give({ type: "tools_listed", agent: 0, servers: [listing("box", [look])] });
    expect(structuredClone(at.state)).toEqual(at.state);
  });
});
