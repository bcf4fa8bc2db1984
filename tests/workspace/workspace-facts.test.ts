import { describe, expect, it } from "vitest";
import type { AgentFiles } from "../../src/workspace/agent-files";
import { isHandedOver, workspaceFacts } from "../../src/workspace/workspace-facts";
import type { Tree } from "../../src/workspace/types";
import { Rig } from "./rig";
import { bytes } from "./staged-files-table";

/**
 * The rules' facts about a workspace: whether the round changed it, and which files it leaves out.
 */

const tree = (...paths: string[]): Tree =>
  new Map(paths.map((path) => [path, { hash: path, size: 1 }]));

const BASE = { "a.txt": "A", "b.txt": "B" };

describe("a round has changed its workspace", () => {
  it.each<{ name: string; does: (files: AgentFiles) => unknown; changed: boolean }>([
    { name: "not if it only reads", does: (files) => files.read("a.txt"), changed: false },
    { name: "if it writes", does: (files) => files.write("c.txt", bytes("C")), changed: true },
    {
      name: "if it writes equal bytes",
      does: (files) => files.write("a.txt", bytes("A")),
      changed: true,
    },
    {
      name: "if it deletes",
      does: async (files) => {
        await files.read("a.txt");
        files.remove("a.txt");
      },
      changed: true,
    },
    { name: "if it moves", does: (files) => files.move("a.txt", "c.txt"), changed: true },
    {
      name: "if it moves a file and moves it back",
      does: (files) => {
        files.move("a.txt", "c.txt");
        files.move("c.txt", "a.txt");
      },
      changed: true,
    },
    {
      name: "if it makes a file and deletes it",
      does: async (files) => {
        await files.write("c.txt", bytes("C"));
        files.remove("c.txt");
      },
      changed: true,
    },
    {
      name: "if it copies a file of a peer",
      does: (files) => files.copy("/peers/agent2/p.txt", "p.txt"),
      changed: true,
    },
    {
      name: "not if a write is refused",
      does: (files) => files.write("/peers/agent2/p.txt", bytes("P")).catch(() => {}),
      changed: false,
    },
    {
      name: "not if it makes a directory",
      does: (files) => files.makeDirectory("empty"),
      changed: false,
    },
    {
      name: "not if it keeps a large result",
      does: (files) => files.write(".tool_results/x.txt", bytes("X")),
      changed: false,
    },
    {
      name: "not if it plans its tasks",
      does: (files) => files.write(".tasks/plan.json", bytes("[]")),
      changed: false,
    },
    {
      name: "if it writes into a directory `tasks` of the project",
      does: (files) => files.write("tasks/a.yml", bytes("-")),
      changed: true,
    },
    {
      name: "if it moves a file to the folder of results",
      does: async (files) => {
        await files.read("a.txt");
        files.move("a.txt", ".tool_results/a.txt");
      },
      changed: true,
    },
  ])("$name (D1)", async ({ does, changed }) => {
    const rig = await Rig.of({ workspace: BASE, peers: { agent2: { "p.txt": "P" } } });
    const files = rig.open();
    await does(files);
    const touched = files.staged().workspace;
    expect(
      workspaceFacts({ base: tree("a.txt", "b.txt"), touched, previous: null, contexts: new Map() })
        .changed,
    ).toBe(changed);
    expect([...touched.keys()].some(isHandedOver)).toBe(changed);
  });
});

describe("the list of omitted files", () => {
  const entry = { hash: "new", size: 1 };

  it.each([
    {
      name: "is empty if the answer has all files of the previous answer",
      touched: new Map([["c.txt", entry]]),
      previous: tree("a.txt"),
      leftOut: undefined,
    },
    {
      name: "contains the missing files of the previous answer",
      touched: new Map([["c.txt", entry]]),
      previous: tree("a.txt", "x.txt", "y.txt"),
      leftOut: { count: 2, paths: ["x.txt", "y.txt"] },
    },
    {
      name: "excludes files that the round deleted",
      touched: new Map([["x.txt", null]]),
      previous: tree("x.txt", "y.txt"),
      leftOut: { count: 1, paths: ["y.txt"] },
    },
    {
      name: "is empty if the round changed no file, because the previous files stay",
      touched: new Map([[".tool_results/r.txt", entry]]),
      previous: tree("x.txt"),
      leftOut: undefined,
    },
    {
      name: "is empty for a first answer",
      touched: new Map([["c.txt", entry]]),
      previous: null,
      leftOut: undefined,
    },
    {
      name: "is limited to the first files",
      touched: new Map([["c.txt", entry]]),
      previous: tree(
        ...Array.from({ length: 5_000 }, (_, nth) => `f${String(nth).padStart(4, "0")}`),
      ),
      leftOut: {
        count: 5_000,
        paths: Array.from({ length: 20 }, (_, nth) => `f${String(nth).padStart(4, "0")}`),
      },
    },
  ])("$name (D1)", ({ touched, previous, leftOut }) => {
    expect(
      workspaceFacts({ base: tree("a.txt"), touched, previous, contexts: new Map() }).leftOut,
    ).toEqual(leftOut);
  });
});

describe("the facts of a round without changes count", () => {
  it.each([
    {
      name: "the files of the previous answer",
      base: tree("a.txt"),
      previous: tree("x.txt", "y.txt"),
      kept: 2,
    },
    {
      name: "the turn's initial files",
      base: tree("a.txt", ".tool_results/r.txt"),
      previous: null,
      kept: 1,
    },
    { name: "no files of an empty workspace", base: tree(), previous: null, kept: 0 },
  ])("$name (D1)", ({ base, previous, kept }) => {
    expect(workspaceFacts({ base, touched: new Map(), previous, contexts: new Map() }).kept).toBe(
      kept,
    );
  });
});

describe("the facts list the changes of a round by path and number", () => {
  const entry = { hash: "new", size: 1 };
  const site = new Map([
    [
      "site",
      new Map([
        ["b.html", entry],
        ["old.html", null],
      ]),
    ],
  ]);

  it.each([
    {
      name: "nothing",
      touched: new Map([[".tool_results/r.txt", entry]]),
      contexts: new Map(),
      facts: {},
    },
    {
      name: "files written and deleted",
      touched: new Map([
        ["c.txt", entry],
        ["a.txt", null],
      ]),
      contexts: new Map(),
      facts: { written: ["c.txt"], edits: 2 },
    },
    {
      name: "files of contexts, which are not changes of the workspace",
      touched: new Map(),
      contexts: site,
      facts: { written: ["/contexts/site/b.html"], edits: 2 },
    },
  ])("$name (D3)", ({ touched, contexts, facts }) => {
    const {
      files: _,
      kept: __,
      ...flags
    } = workspaceFacts({ base: tree("a.txt"), touched, previous: null, contexts });
    expect(flags).toEqual({ changed: touched.has("c.txt"), ...facts });
  });
});
