import { describe, expect, it } from "vitest";
import { pathsAsShown, peersOf } from "../../src/workspace/mounts";
import { answers, changedNothing, tool, uses, votes, wrote } from "../coordination/builders";
import { allAnswer } from "../coordination/rule-table";
import { World } from "../coordination/world";

/** What the agent sees, by the ids that it does not know. */
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
      name: "are all that answered when its next round begins, itself among them",
      given: allAnswer,
      sees: { a: FIRST, b: FIRST, c: FIRST },
    },
    {
      name: "stay as they are while others answer",
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.startsTool("a");
        world.does("b", answers("B2"));
      },
      sees: { a: FIRST },
    },
    {
      name: "are the newest once it was shown them",
      given: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      sees: { a: { ...FIRST, b: "agent2.2" }, b: { ...FIRST, b: "agent2.2" }, c: FIRST },
    },
    {
      name: "are, after an update was left out, what it was shown before",
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
      name: "are without those that have no files",
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
      name: "are what the turn began with where an author changed nothing",
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

describe("an answer as it is shown", () => {
  it.each([
    {
      name: "leads to its author's snapshot",
      says: "See /workspace/src/a.py.",
      reads: "See /peers/agent2/src/a.py.",
    },
    {
      name: "leads there from the workspace itself",
      says: "All is in /workspace.",
      reads: "All is in /peers/agent2.",
    },
    {
      name: "leads there in quotes and lists",
      says: "`/workspace/a`, (/workspace/b)",
      reads: "`/peers/agent2/a`, (/peers/agent2/b)",
    },
    {
      name: "leads there at the end of an assignment",
      says: "DIR=/workspace\ncd $DIR",
      reads: "DIR=/peers/agent2\ncd $DIR",
    },
    {
      name: "leaves addresses alone",
      says: "https://x.test/workspace/a",
      reads: "https://x.test/workspace/a",
    },
    {
      name: "leaves longer paths alone",
      says: "/home/me/workspace/a ../workspace/b",
      reads: "/home/me/workspace/a ../workspace/b",
    },
    {
      name: "leaves longer names alone",
      says: "/workspaces/a /workspace.json /workspace-2",
      reads: "/workspaces/a /workspace.json /workspace-2",
    },
    {
      name: "leaves what leads to others alone",
      says: "/peers/agent1/a",
      reads: "/peers/agent1/a",
    },
    {
      name: "leaves what reads like a replacement alone",
      says: "$& /workspace/$1",
      reads: "$& /peers/agent2/$1",
    },
  ])("$name: $says", ({ says, reads }) => {
    expect(pathsAsShown(says, "/peers/agent2")).toBe(reads);
  });
});
