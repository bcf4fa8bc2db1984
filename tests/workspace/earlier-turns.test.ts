import { describe, expect, it } from "vitest";
import { turnName, turnNumber } from "../../src/workspace/earlier-turns";
import { fileTools } from "../../src/tools/files";
import type { StagedFiles } from "../../src/workspace/staged-files";
import { runTool } from "../tools/files/agent-tree";
import { Rig, type Setup } from "./rig";
import { bytes, testRows } from "./staged-files-table";

const SITE = "/turns/turn_2/contexts/site/index.html";
/** Three earlier turns. The first had no context. */
const TURNS: Setup = {
  workspace: { "a.txt": "A3" },
  contexts: { site: { files: { "index.html": "user" } } },
  turns: {
    turn_1: { "": { "a.txt": "A1", "b.txt": "B" } },
    turn_2: { "": { "a.txt": "A2", "contexts-of-use.md": "C" }, site: { "index.html": "two" } },
    turn_10: { "": {}, site: { "index.html": "ten", "new.html": "new" } },
  },
};

describe("the results of earlier turns", () => {
  testRows([
    {
      name: "are read below /turns",
      setup: TURNS,
      act: async (f) => expect(await f.read("/turns/turn_1/a.txt")).toEqual(bytes("A1")),
      changes: { read: ["/turns/turn_1/a.txt"] },
      accesses: ["read /turns/turn_1/a.txt"],
    },
    {
      name: "have the states of contexts",
      setup: TURNS,
      act: async (f) =>
        expect(await f.read("/turns/turn_2/contexts/site/index.html")).toEqual(bytes("two")),
      changes: { read: ["/turns/turn_2/contexts/site/index.html"] },
      accesses: ["read /turns/turn_2/contexts/site/index.html"],
    },
    {
      name: "are listed in /, but the list of a directory loads only this directory",
      setup: TURNS,
      act: async (f) => {
        expect(f.list("/").map(({ name }) => name)).toEqual([
          "contexts",
          "peers",
          "turns",
          "workspace",
        ]);
        expect(f.list("/turns").map(({ name }) => name)).toEqual(["turn_1", "turn_10", "turn_2"]);
        expect(await f.withTree("/turns/turn_2", () => f.list("/turns/turn_2"))).toEqual([
          { name: "a.txt", kind: "file", size: 2 },
          { name: "contexts", kind: "directory", size: 0 },
          { name: "contexts-of-use.md", kind: "file", size: 1 },
        ]);
        expect(f.list("/turns/turn_2/contexts").map(({ name }) => name)).toEqual(["site"]);
      },
      accesses: ["list /", "list /turns", "list /turns/turn_2", "list /turns/turn_2/contexts"],
    },
    {
      name: "are walked if the path is below /turns, the contexts in their order",
      setup: TURNS,
      act: async (f) =>
        expect((await f.walk("/turns/turn_2", 9)).paths).toEqual([
          "/turns/turn_2/a.txt",
          "/turns/turn_2/contexts-of-use.md",
          "/turns/turn_2/contexts/site/index.html",
        ]),
      accesses: ["list /turns/turn_2"],
    },
    {
      name: "are all walked in /turns",
      setup: TURNS,
      act: async (f) =>
        expect((await f.walk("/turns", 9)).paths).toEqual([
          "/turns/turn_1/a.txt",
          "/turns/turn_1/b.txt",
          "/turns/turn_10/contexts/site/index.html",
          "/turns/turn_10/contexts/site/new.html",
          "/turns/turn_2/a.txt",
          "/turns/turn_2/contexts-of-use.md",
          "/turns/turn_2/contexts/site/index.html",
        ]),
      accesses: ["list /turns"],
    },
    {
      name: "are not walked from /, so that they do not count for a search or a command",
      setup: TURNS,
      act: async (f) =>
        expect(await f.walk("/", 2)).toEqual({
          paths: ["/contexts/site/index.html", "/workspace/a.txt"],
          more: false,
        }),
      accesses: ["list /"],
    },
    {
      name: "are copied into the workspace, which changes it also if the bytes are equal",
      setup: { ...TURNS, workspace: { "a.txt": "A1" } },
      act: async (f) => {
        await f.withTree("/turns/turn_1", () => f.copy("/turns/turn_1", "/workspace/old"));
        await f.withTree("/turns/turn_1", () => f.copy("/turns/turn_1/a.txt", "a.txt"));
        expect([...f.staged().workspace.keys()]).toEqual(["a.txt", "old/a.txt", "old/b.txt"]);
      },
      changes: {
        workspace: { "old/a.txt": "A1", "old/b.txt": "B" },
        own: ["/workspace/a.txt", "/workspace/old/a.txt", "/workspace/old/b.txt"],
      },
      accesses: [
        "write /workspace/old",
        "read /turns/turn_1",
        "write /workspace/a.txt",
        "read /turns/turn_1/a.txt",
      ],
    },
    ...[
      { of: "a turn that this turn does not continue", path: "/turns/turn_3/a.txt" },
      { of: "another spelling of a turn", path: "/turns/2/a.txt" },
      { of: "a context that the agent does not see", path: "/turns/turn_2/contexts/vault/a" },
      { of: "a context of a turn without contexts", path: "/turns/turn_1/contexts/site/a" },
      { of: "the contexts of an unknown turn", path: "/turns/turn_3/contexts" },
    ].map(({ of, path }) => ({
      name: `are unknown for ${of}`,
      setup: TURNS,
      act: (f: StagedFiles) => f.read(path),
      accesses: [`read ${path}: unknown_place`],
      code: "unknown_place",
    })),
    {
      name: "do not exist in a first turn",
      act: (f) => {
        expect(f.list("/").map(({ name }) => name)).toEqual(["contexts", "peers", "workspace"]);
        return f.read("/turns/turn_1/a");
      },
      accesses: ["list /", "read /turns/turn_1/a: unknown_place"],
      code: "unknown_place",
    },
  ]);

  it.each([
    { name: "written", act: (f: StagedFiles) => f.write("/turns/turn_1/x", bytes("x")) },
    { name: "changed in a context", act: (f: StagedFiles) => f.write(SITE, bytes("x")) },
    { name: "removed", act: (f: StagedFiles) => f.remove("/turns/turn_1/a.txt") },
    { name: "moved away", act: (f: StagedFiles) => f.move("/turns/turn_1/a.txt", "x") },
    { name: "given new files", act: (f: StagedFiles) => f.copy("a.txt", "/turns/turn_1/x") },
    { name: "given directories", act: (f: StagedFiles) => f.makeDirectory("/turns/turn_1/x") },
  ])("are never $name, and the refusal says what to do", async ({ act }) => {
    const files = (await Rig.of(TURNS)).open();
    const refusal = await Promise.resolve()
      .then(() => act(files))
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: "read_only",
      message: expect.stringContaining(
        "is from an earlier turn and cannot be changed. Copy it into /workspace and change the copy.",
      ),
    });
    expect(files.staged().workspace.size).toBe(0);
  });

  it("are named in a refusal, at most eight of them", async () => {
    const turns = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`turn_${index + 1}`, { "": {} }]),
    );
    const files = (await Rig.of({ turns })).open();
    await expect(files.read("/turns/turn_31/a")).rejects.toThrow(
      /^\/turns\/turn_31\/a is not one of the places you see\. There are \/turns\/turn_23, .*turn_30\.$/,
    );
  });
});

describe("a tool reads earlier turns, of which it loads one tree at a time", () => {
  it.each([
    { tool: "read_file", args: { path: "/turns/turn_1/b.txt" }, text: "B" },
    { tool: "list_directory", args: { path: "/turns" }, text: "turn_1/\nturn_10/\nturn_2/" },
    { tool: "list_directory", args: { path: "/turns/turn_1" }, text: "a.txt  2\nb.txt  1" },
    {
      tool: "list_directory",
      args: { path: "/turns", recursive: true },
      text: "turn_1/b.txt  1\nturn_10/contexts/site/index.html  3",
    },
    {
      tool: "search_files",
      args: { path: "/turns", pattern: "index.html" },
      text: "/turns/turn_10/contexts/site/index.html\n/turns/turn_2/contexts/site/index.html",
    },
    { tool: "grep", args: { path: "/turns", pattern: "A" }, text: "/turns/turn_2/a.txt:1:A2" },
    {
      tool: "copy_file",
      args: { source: "/turns/turn_2/contexts/site", destination: "site" },
      text: "Copied /turns/turn_2/contexts/site to /workspace/site.",
    },
    {
      tool: "compare_files",
      args: { first: "/turns/turn_1/a.txt", second: "a.txt" },
      text: "-A1\n\\ No newline at end of file\n+A3",
    },
    {
      tool: "compare_directories",
      args: { first: "/turns/turn_10/contexts/site", second: "/contexts/site" },
      text: "Only in /turns/turn_10/contexts/site (1):\n  new.html\nDifferent (1):\n  index.html",
    },
  ])("$tool $args", async ({ tool, args, text }) => {
    const fileTool = fileTools().find(({ spec }) => spec.name === tool);
    if (!fileTool) throw new Error(`there is no tool ${tool}`);
    const result = await runTool(fileTool, args, (await Rig.of(TURNS)).open());
    expect(result).toMatchObject({ outcome: "ok", text: expect.stringContaining(text) });
  });
});

describe("a tool that would change earlier turns", () => {
  it.each([
    { tool: "write_file", args: { path: "/turns/turn_1/a.txt", content: "x" } },
    { tool: "edit_file", args: { path: SITE, old_string: "two", new_string: "x" } },
    { tool: "move_file", args: { source: "/turns/turn_1/a.txt", destination: "x" } },
    { tool: "copy_file", args: { source: "a.txt", destination: "/turns/turn_1/x" } },
    { tool: "delete_file", args: { path: "/turns/turn_1" } },
  ])("is refused: $tool $args", async ({ tool, args }) => {
    const fileTool = fileTools().find(({ spec }) => spec.name === tool);
    if (!fileTool) throw new Error(`there is no tool ${tool}`);
    const result = await runTool(fileTool, args, (await Rig.of(TURNS)).open());
    expect(result).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("is from an earlier turn and cannot be changed"),
    });
  });
});

describe("the name of a turn", () => {
  it.each([1, 9, 30, 1_000])("is read as the number %i", (turn) => {
    expect(turnNumber(turnName(turn))).toBe(turn);
  });
  it.each(["turn_0", "turn_01", "turn_", "turn_1a", "Turn_1", "1", "turn_1234567890"])(
    "is not %s",
    (name) => {
      expect(turnNumber(name)).toBeNull();
    },
  );
});
