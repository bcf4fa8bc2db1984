import { describe, expect, it } from "vitest";
import { fileTools } from "../../src/tools/files";
import { runTool } from "../tools/files/agent-tree";
import { type Setup, Rig } from "./rig";
import { testRows } from "./staged-files-table";

const context = (files: Record<string, string>, writable = false): Setup => ({
  contexts: { site: { files, writable } },
});

/**
 * `/workspace/peers` and `/workspace/contexts` lead to other mounts, so no file may have these
 * names.
 */
describe("reserved names", () => {
  testRows([
    {
      name: "are refused if a whole context is copied into the workspace",
      setup: context({ a: "A", "peers/p": "P" }),
      act: (f) => f.copy("/contexts/site", "/workspace"),
      accesses: ["write /workspace: reserved_name", "read /contexts/site: reserved_name"],
      code: "reserved_name",
    },
    {
      name: "are refused for files",
      setup: context({ contexts: "C" }),
      act: (f) => f.copy("/contexts/site", "/workspace"),
      accesses: ["write /workspace: reserved_name", "read /contexts/site: reserved_name"],
      code: "reserved_name",
    },
    {
      name: "are refused for empty directories",
      setup: { ...context({}, true), directories: ["/contexts/site/contexts"] },
      act: (f) => f.copy("/contexts/site", "/workspace"),
      changes: { directories: ["/contexts/site/contexts"] },
      accesses: ["write /workspace: reserved_name", "read /contexts/site: reserved_name"],
      code: "reserved_name",
    },
    {
      name: "are refused if a peer's directory is copied",
      setup: { peers: { agent1: { "src/peers/p": "P" } } },
      act: (f) => f.copy("/peers/agent1/src", "/workspace"),
      accesses: ["write /workspace: reserved_name", "read /peers/agent1/src: reserved_name"],
      code: "reserved_name",
    },
    {
      name: "are refused if a directory is moved to an empty workspace",
      setup: { ...context({ "src/peers/p": "P" }, true), readBeforeDelete: false },
      act: (f) => f.move("/contexts/site/src", "/workspace"),
      accesses: ["write /workspace: reserved_name", "delete /contexts/site/src: reserved_name"],
      code: "reserved_name",
    },
    {
      name: "may be used in a subdirectory",
      setup: context({ "peers/p": "P", "contexts/c": "C" }),
      act: (f) => f.copy("/contexts/site", "site"),
      changes: {
        workspace: { "site/contexts/c": "C", "site/peers/p": "P" },
        own: ["/workspace/site/contexts/c", "/workspace/site/peers/p"],
      },
      accesses: ["write /workspace/site", "read /contexts/site"],
    },
    {
      name: "may be the start of another name",
      setup: context({ "peers.md": "P", "contexts2/c": "C" }),
      act: (f) => f.copy("/contexts/site", "/workspace"),
      changes: {
        workspace: { "contexts2/c": "C", "peers.md": "P" },
        own: ["/workspace/contexts2/c", "/workspace/peers.md"],
      },
      accesses: ["write /workspace", "read /contexts/site"],
    },
    {
      name: "may be used at the top of a context",
      setup: { workspace: { "a/peers/p": "P" }, ...context({}, true) },
      act: (f) => f.copy("a", "/contexts/site"),
      changes: { site: { "peers/p": "P" }, own: ["/contexts/site/peers/p"] },
      accesses: ["write /contexts/site", "read /workspace/a"],
    },
  ]);

  it("have an error with the reserved name and advice", async () => {
    const files = (await Rig.of(context({ a: "A", "peers/p": "P" }))).open();
    expect(() => files.copy("/contexts/site", "/workspace")).toThrow(
      "/workspace/peers leads to /peers, so nothing can be put there. Take a directory in the workspace for all of it, e.g. /workspace/copy.",
    );
  });
});

/** Trees of older sessions may contain such names. */
describe("a workspace with a file at a reserved name", () => {
  const OLD: Setup = {
    workspace: { "a.txt": "hello\n", "peers/p.txt": "hello\n", contexts: "hello\n" },
    directories: ["/workspace/peers/empty"],
  };

  it.each([
    { tool: "grep", args: { pattern: "hello" }, text: "/workspace/a.txt:1:hello" },
    { tool: "list_directory", args: {}, text: "a.txt  6" },
    { tool: "list_directory", args: { recursive: true }, text: "a.txt  6" },
    { tool: "search_files", args: { pattern: "*" }, text: "/workspace/a.txt" },
  ])("is read by $tool $args", async ({ tool, args, text }) => {
    const fileTool = fileTools().find(({ spec }) => spec.name === tool);
    if (!fileTool) throw new Error(`there is no tool ${tool}`);
    expect(await runTool(fileTool, args, (await Rig.of(OLD)).open())).toMatchObject({
      outcome: "ok",
      text,
    });
  });

  it("returns only paths of its own files", async () => {
    const files = (await Rig.of(OLD)).open();
    const { paths } = await files.walk("/", 100);
    expect(paths.map((path) => files.stat(path).kind)).toEqual(["file"]);
    expect(files.staged().directories).toEqual(["/workspace/peers/empty"]);
  });

  it("keeps the file unchanged", async () => {
    const rig = await Rig.of(OLD);
    const files = rig.open();
    files.copy("/workspace/a.txt", "/workspace/b.txt");
    expect(rig.changesOf(files)["workspace"]).toEqual({ "b.txt": "hello\n" });
  });
});
