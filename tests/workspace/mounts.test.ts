import { describe, expect, it } from "vitest";
import { pathsAsShown, peersOf } from "../../src/workspace/mounts";
import { answers, changedNothing, tool, uses, votes, wrote } from "../coordination/builders";
import { allAnswer } from "../coordination/rule-table";
import { World } from "../coordination/world";

/** The snapshots that an agent sees: label by author. */
function visibleSnapshots(world: World, id: string): Record<string, string> {
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
  /** What happens in the world before the check. */
  act: (world: World) => void;
  snapshots: Record<string, Record<string, string>>;
};

describe("an agent's peers", () => {
  it.each<Row>([
    {
      name: "are none in its first round",
      act: (world) => world.does("b", answers("B")),
      snapshots: { a: {}, b: {} },
    },
    {
      name: "are all agents with answers when its next round starts, including itself",
      act: allAnswer,
      snapshots: { a: FIRST, b: FIRST, c: FIRST },
    },
    {
      name: "stay unchanged while others answer",
      act: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.startsTool("a");
        world.does("b", answers("B2"));
      },
      snapshots: { a: FIRST },
    },
    {
      name: "are the newest snapshots after their answers were shown",
      act: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      snapshots: { a: { ...FIRST, b: "agent2.2" }, b: { ...FIRST, b: "agent2.2" }, c: FIRST },
    },
    {
      name: "stay unchanged if newer answers are not injected",
      world: { every, rules: { max_midstream_injections_per_round: 0 } },
      act: (world) => {
        allAnswer(world);
        world.does("a", uses(["search"]));
        world.does("b", answers("B2"));
        world.tool("a");
      },
      snapshots: { a: FIRST },
    },
    {
      name: "exclude agents without files",
      world: { every, each: { c: { workspace: false } } },
      act: allAnswer,
      snapshots: { a: { a: "agent1.1", b: "agent2.1" } },
    },
    {
      name: "keep their snapshot if a new answer changed no files",
      act: (world) => {
        world.does("a", answers("A"));
        world.does("b", answers("B"), wrote(3));
        world.does("c", answers("C"));
        world.does("b", answers("B2"), changedNothing());
        world.files = null;
        world.does("c", uses(["search"]));
        world.tool("c");
        expect(world.agent("c").seen).toBe(4);
      },
      snapshots: { c: FIRST },
    },
    {
      name: "have the turn's initial files if their author changed nothing",
      act: (world) => {
        world.does("a", answers("A"), changedNothing());
        world.does("b", answers("B"), wrote(1));
        world.does("c", answers("C"));
      },
      snapshots: { c: { ...FIRST, a: "base" } },
    },
    {
      name: "have the snapshots of all newest answers for the presenter",
      act: (world) => {
        allAnswer(world);
        world.does("a", answers("A2"));
        for (let step = 0; world.turn.attempt.presenter === null && step < 20; step += 1) {
          const next = world.ids.find((id) => world.owes().includes(`call ${id}`));
          if (next) world.does(next, votes("b"));
        }
      },
      snapshots: { b: { ...FIRST, a: "agent1.2" } },
    },
  ])("$name", ({ world: options = { every }, act, snapshots }) => {
    const world = new World(options);
    world.ask();
    act(world);
    for (const [id, peers] of Object.entries(snapshots))
      expect([id, visibleSnapshots(world, id)]).toEqual([id, peers]);
  });

  it("are sorted by alias, which does not reveal the agents", () => {
    const world = new World({ every, agents: ["a", "b", "c", "d"] });
    world.ask();
    allAnswer(world);
    expect([...peersOf(world.turn, 0).keys()]).toEqual(["agent1", "agent2", "agent3", "agent4"]);
  });
});

describe("an answer, as agents see it,", () => {
  it.each([
    {
      name: "has the path of its author's snapshot",
      content: "See /workspace/src/a.py.",
      shown: "See /peers/agent2/src/a.py.",
    },
    {
      name: "has that path in place of /workspace alone",
      content: "All is in /workspace.",
      shown: "All is in /peers/agent2.",
    },
    {
      name: "has that path in quotes and lists",
      content: "`/workspace/a`, (/workspace/b)",
      shown: "`/peers/agent2/a`, (/peers/agent2/b)",
    },
    {
      name: "has that path at the end of an assignment",
      content: "DIR=/workspace\ncd $DIR",
      shown: "DIR=/peers/agent2\ncd $DIR",
    },
    {
      name: "keeps URLs",
      content: "https://x.test/workspace/a",
      shown: "https://x.test/workspace/a",
    },
    {
      name: "keeps longer paths",
      content: "/home/me/workspace/a ../workspace/b",
      shown: "/home/me/workspace/a ../workspace/b",
    },
    {
      name: "keeps longer names",
      content: "/workspaces/a /workspace.json /workspace-2",
      shown: "/workspaces/a /workspace.json /workspace-2",
    },
    {
      name: "keeps paths of other agents",
      content: "/peers/agent1/a",
      shown: "/peers/agent1/a",
    },
    {
      name: "keeps replacement patterns",
      content: "$& /workspace/$1",
      shown: "$& /peers/agent2/$1",
    },
  ])("$name: $content", ({ content, shown }) => {
    expect(pathsAsShown(content, "/peers/agent2")).toBe(shown);
  });
});
