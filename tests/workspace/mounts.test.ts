import { describe, expect, it } from "vitest";
import { pathsAsShown, peersOf } from "../../src/workspace/mounts";
import { answers, changedNothing, tool, uses, votes, wrote } from "../coordination/builders";
import { allAnswer } from "../coordination/rule-table";
import { World } from "../coordination/world";

/** The files that the agent sees, by the labels of their snapshots. */
function sees(world: World, id: string): Record<string, string> {
  const peers = peersOf(world.turn, world.ids.indexOf(id));
  return Object.fromEntries(
    world.ids.flatMap((other) => {
      const snapshot = peers.get(world.alias(other));
      return snapshot === undefined ? [] : [[other, snapshot]];
    }),
  );
}

const every = { workspace: true, tools: [tool("search")] };
const FIRST = { a: "agent1.1", b: "agent2.1", c: "agent3.1" };

type Row = {
  name: string;
  world?: ConstructorParameters<typeof World>[0];
  given: (world: World) => void;
  sees: Record<string, Record<string, string>>;
};

describe("an agent's peers", () => {
  it.each<Row>([
    {
      name: "are none in its first round",
      given: (world) => world.does("b", answers("B")),
      sees: { a: {}, b: {} },
    },
    {
      name: "are all agents with answers when its next round starts, itself included",
      given: allAnswer,
      sees: { a: FIRST, b: FIRST, c: FIRST },
    },
    {
      name: "stay unchanged while others answer",
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.startsTool("a");
        world.does("b", answers("B2"));
      },
      sees: { a: FIRST },
    },
    {
      name: "are the newest once their answers were shown",
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      sees: { a: { ...FIRST, b: "agent2.2" }, b: { ...FIRST, b: "agent2.2" }, c: FIRST },
    },
    {
      name: "are the previously shown ones after an omitted update",
      world: { every, rules: { max_midstream_injections_per_round: 0 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      sees: { a: FIRST },
    },
    {
      name: "exclude agents without files",
      world: { every, each: { c: { workspace: false } } },
      given: allAnswer,
      sees: { a: { a: "agent1.1", b: "agent2.1" } },
    },
    {
      name: "keep a snapshot that an unchanged workspace does not replace",
      given: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"), wrote(3));
        world.does("c", answers("C"));
        world.does("b", answers("B2"), changedNothing());
        world.files = null;
        world.does("c", uses(["search"]));
        world.tool("c");
        expect(world.agent("c").seen).toBe(4);
      },
      sees: { c: FIRST },
    },
    {
      name: "are the turn's initial files if an author changed nothing",
      given: (world) => {
        world.does("a", answers("A"), changedNothing());
        world.does("b", answers("B"), wrote(1));
        world.does("c", answers("C"));
      },
      sees: { c: { ...FIRST, a: "base" } },
    },
    {
      name: "are all newest answers for the presenter",
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("A2"));
        for (let step = 0; world.turn.attempt.presenter === null && step < 20; step += 1) {
          const next = world.ids.find((id) => world.owes().includes(`call ${id}`));
          if (next) world.does(next, votes("b"));
        }
      },
      sees: { b: { ...FIRST, a: "agent1.2" } },
    },
  ])("$name", ({ world: options = { every }, given, sees: expected }) => {
    const world = new World(options);
    world.ask();
    given(world);
    for (const [id, peers] of Object.entries(expected))
      expect([id, sees(world, id)]).toEqual([id, peers]);
  });

  it("are in the order of their aliases, which reveals nothing", () => {
    const world = new World({ every, agents: ["a", "b", "c", "d"] });
    world.ask();
    allAnswer(world);
    expect([...peersOf(world.turn, 0).keys()]).toEqual(["agent1", "agent2", "agent3", "agent4"]);
  });
});

describe("the text of a shown answer", () => {
  it.each([
    {
      name: "has the path of its author's snapshot",
      says: "See /workspace/src/a.py.",
      reads: "See /peers/agent2/src/a.py.",
    },
    {
      name: "has that path for absolute workspace paths",
      says: "All is in /workspace.",
      reads: "All is in /peers/agent2.",
    },
    {
      name: "has that path in quotes and lists",
      says: "`/workspace/a`, (/workspace/b)",
      reads: "`/peers/agent2/a`, (/peers/agent2/b)",
    },
    {
      name: "has that path at the end of an assignment",
      says: "DIR=/workspace\ncd $DIR",
      reads: "DIR=/peers/agent2\ncd $DIR",
    },
    {
      name: "keeps URLs",
      says: "https://x.test/workspace/a",
      reads: "https://x.test/workspace/a",
    },
    {
      name: "keeps longer paths",
      says: "/home/me/workspace/a ../workspace/b",
      reads: "/home/me/workspace/a ../workspace/b",
    },
    {
      name: "keeps longer names",
      says: "/workspaces/a /workspace.json /workspace-2",
      reads: "/workspaces/a /workspace.json /workspace-2",
    },
    {
      name: "keeps paths of other agents",
      says: "/peers/agent1/a",
      reads: "/peers/agent1/a",
    },
    {
      name: "keeps replacement patterns",
      says: "$& /workspace/$1",
      reads: "$& /peers/agent2/$1",
    },
  ])("$name: $says", ({ says, reads }) => {
    expect(pathsAsShown(says, "/peers/agent2")).toBe(reads);
  });
});
