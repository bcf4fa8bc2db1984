import { describe, expect, it } from "vitest";
import type { AgentFiles } from "../../src/workspace/agent-files";
import { isHandedOver, workspaceFacts } from "../../src/workspace/workspace-facts";
import type { Tree } from "../../src/workspace/types";
import { Rig } from "./rig";
import { bytes } from "./staged-files-table";

/**
 * A tree with these paths. Each file has one byte.
 */
const tree = (...paths: string[]): Tree =>
  new Map(paths.map((path) => [path, { hash: path, size: 1 }]));

const BASE = { "a.txt": "A", "b.txt": "B" };

describe("a round counts as a change of the workspace", () => {
  it.each<{ name: string; act: (files: AgentFiles) => unknown; changed: boolean }>([
    { name: "not if it only reads files", act: (files) => files.read("a.txt"), changed: false },
    {
      name: "if it writes a file",
      act: (files) => files.write("c.txt", bytes("C")),
      changed: true,
    },
    {
      name: "if it writes equal bytes",
      act: (files) => files.write("a.txt", bytes("A")),
      changed: true,
    },
    {
      name: "if it deletes a file",
      act: async (files) => {
        await files.read("a.txt");
        files.remove("a.txt");
      },
      changed: true,
    },
    { name: "if it moves a file", act: (files) => files.move("a.txt", "c.txt"), changed: true },
    {
      name: "if it moves a file and moves it back",
      act: (files) => {
        files.move("a.txt", "c.txt");
        files.move("c.txt", "a.txt");
      },
      changed: true,
    },
    {
      name: "if it creates a file and deletes it",
      act: async (files) => {
        await files.write("c.txt", bytes("C"));
        files.remove("c.txt");
      },
      changed: true,
    },
    {
      name: "if it copies a peer's file",
      act: (files) => files.copy("/peers/agent2/p.txt", "p.txt"),
      changed: true,
    },
    {
      name: "not if a write is refused",
      act: (files) => files.write("/peers/agent2/p.txt", bytes("P")).catch(() => {}),
      changed: false,
    },
    {
      name: "not if it creates a directory",
      act: (files) => files.makeDirectory("empty"),
      changed: false,
    },
    {
      name: "not if it stores a large tool result",
      act: (files) => files.write(".tool_results/x.txt", bytes("X")),
      changed: false,
    },
    {
      name: "not if it writes its to-do list",
      act: (files) => files.write(".tasks/plan.json", bytes("[]")),
      changed: false,
    },
    {
      name: "if it writes into a directory `tasks` of the project",
      act: (files) => files.write("tasks/a.yml", bytes("-")),
      changed: true,
    },
    {
      name: "if it moves a file to the folder of results",
      act: async (files) => {
        await files.read("a.txt");
        files.move("a.txt", ".tool_results/a.txt");
      },
      changed: true,
    },
  ])("$name (D1)", async ({ act, changed }) => {
    const rig = await Rig.of({ workspace: BASE, peers: { agent2: { "p.txt": "P" } } });
    const files = rig.open();
    await act(files);
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
      name: "is empty if the round changed no file, because the previous files remain",
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
      name: "contains at most 20 files",
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

describe("the facts of a round without changes state the number of", () => {
  it.each([
    {
      name: "files in the previous answer",
      base: tree("a.txt"),
      previous: tree("x.txt", "y.txt"),
      kept: 2,
    },
    {
      name: "files at the start of the turn",
      base: tree("a.txt", ".tool_results/r.txt"),
      previous: null,
      kept: 1,
    },
    { name: "files in an empty workspace", base: tree(), previous: null, kept: 0 },
  ])("$name (D1)", ({ base, previous, kept }) => {
    expect(workspaceFacts({ base, touched: new Map(), previous, contexts: new Map() }).kept).toBe(
      kept,
    );
  });
});

describe("the facts list the written paths and the number of changes:", () => {
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
      name: "none, if no file of answers or contexts was changed",
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
