import { describe, expect, it } from "vitest";
import { listing, tool, uses } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const readOnlyTool = tool("mcp__box__look", { idempotent: true });
const sendTool = tool("mcp__box__send", { acts_outside: true });
const every = { tools: [tool("search")], tool_servers: ["box", "mail"] };
const oneServer = { agents: ["a", "b"], each: { a: { tool_servers: ["box"] } } };
const boxLists = (tools: readonly ReturnType<typeof tool>[] | null) => [{ server: "box", tools }];

describe("tool servers", () => {
  table([
    {
      name: "are listed before their agent's first call, and other agents do not wait",
      world: oneServer,
      when: (at) => at.wait(10),
      then: [],
      owes: ["listing a", "call b"],
    },
    {
      name: "allow the agent's first call when they have listed their tools",
      world: oneServer,
      when: (at) => at.lists("a", boxLists([readOnlyTool, sendTool])),
      then: ["tools.listed a box mcp__box__look mcp__box__send"],
      owes: ["call a", "call b"],
    },
    {
      name: "that cannot be reached are logged, and the agent continues without them",
      world: oneServer,
      when: (at) => at.lists("a", boxLists(null)),
      then: ["tools.listed a box : It could not be reached."],
      owes: ["call a", "call b"],
    },
    {
      name: "delay the call until all of them have replied",
      world: { agents: ["a"], rules: { skip_coordination: true }, every },
      when: (at) => at.lists("a", boxLists([readOnlyTool])),
      then: ["tools.listed a box mcp__box__look"],
      owes: ["listing a"],
    },
    {
      name: "that are not in the agent's config are ignored",
      world: oneServer,
      when: (at) => at.lists("b", boxLists([readOnlyTool])),
      then: [],
    },
    {
      name: "that list the same tools again are not logged again",
      world: oneServer,
      given: (at) => at.lists("a", boxLists([readOnlyTool])),
      when: (at) => at.lists("a", boxLists([readOnlyTool])),
      then: [],
    },
    {
      name: "that list other tools are logged, and the new listing applies at once",
      world: oneServer,
      given: (at) => at.lists("a", boxLists([readOnlyTool, sendTool])),
      when: (at) => [
        ...at.lists("a", boxLists([readOnlyTool])),
        ...at.does("a", uses(["mcp__box__send"])),
      ],
      then: [
        "tools.listed a box mcp__box__look",
        "call.completed a",
        "tool.completed a mcp__box__send error",
      ],
    },
    {
      name: "that keep changing are logged at most eight times in a turn",
      world: oneServer,
      given: (at) => {
        for (let n = 0; n < 8; n += 1) at.lists("a", boxLists(n % 2 ? [readOnlyTool] : [sendTool]));
      },
      when: (at) => at.lists("a", boxLists([sendTool])),
      then: [],
    },
  ]);

  it("are listed once in a turn, not in each round and attempt", () => {
    const at = new World(oneServer);
    at.ask();
    at.lists("a", boxLists([readOnlyTool]));
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

  it("have tools that are repeated after a restart only if this is safe", () => {
    const at = new World(oneServer);
    at.ask();
    at.lists("a", boxLists([readOnlyTool, sendTool]));
    at.does("a", uses(["mcp__box__look", "mcp__box__send"]));
    at.startsTool("a");
    at.startsTool("a");
    const types = at
      .interrupt()
      .map((event) => ("name" in event ? `${event.type} ${event.name}` : event.type));
    expect(types).toEqual(["tool.interrupted mcp__box__look", "tool.unknown mcp__box__send"]);
  });

  it("have tools with side effects that are only planned during coordination in planning mode", () => {
    const at = new World({
      agents: ["a"],
      rules: { planning_mode: true },
      every: { tool_servers: ["box"] },
    });
    at.ask();
    at.lists("a", boxLists([readOnlyTool, sendTool]));
    at.does("a", uses(["mcp__box__send", "mcp__box__look"]));
    at.tool("a");
    expect(at.events("tool.completed").map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "mcp__box__send planned",
      "mcp__box__look ok",
    ]);
  });

  it("are not listed for a persona call", () => {
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
    const at = new World(oneServer);
    at.ask();
    at.give({ type: "tools_listed", agent: 0, servers: [listing("box", [readOnlyTool])] });
    expect(structuredClone(at.state)).toEqual(at.state);
  });
});
