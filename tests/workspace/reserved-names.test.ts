import { describe, expect, it } from "vitest";
import { fileTools } from "../../src/tools/files";
import { runTool } from "../tools/files/agent-tree";
import { type Setup, Rig } from "./rig";
import { table } from "./staged-files-table";

const context = (files: Record<string, string>, writable = false): Setup => ({
  contexts: { site: { files, writable } },
});

/** Names in the workspace that lead to peers and contexts, so no file may have them. */
describe("reserved names", () => {
  table([
    {
      name: "are refused if a whole context is copied into the workspace",
      given: context({ a: "A", "peers/p": "P" }),
      does: (f) => f.copy("/contexts/site", "/workspace"),
      lines: ["write /workspace: reserved_name", "read /contexts/site: reserved_name"],
      fails: "reserved_name",
    },
    {
      name: "are refused as files",
      given: context({ contexts: "C" }),
      does: (f) => f.copy("/contexts/site", "/workspace"),
      lines: ["write /workspace: reserved_name", "read /contexts/site: reserved_name"],
      fails: "reserved_name",
    },
    {
      name: "are refused as empty directories",
      given: { ...context({}, true), directories: ["/contexts/site/contexts"] },
      does: (f) => f.copy("/contexts/site", "/workspace"),
      changes: { directories: ["/contexts/site/contexts"] },
      lines: ["write /workspace: reserved_name", "read /contexts/site: reserved_name"],
      fails: "reserved_name",
    },
    {
      name: "are refused if a peer's directory is copied",
      given: { peers: { agent1: { "src/peers/p": "P" } } },
      does: (f) => f.copy("/peers/agent1/src", "/workspace"),
      lines: ["write /workspace: reserved_name", "read /peers/agent1/src: reserved_name"],
      fails: "reserved_name",
    },
    {
      name: "are refused if a directory is moved to an empty workspace",
      given: { ...context({ "src/peers/p": "P" }, true), readBeforeDelete: false },
      does: (f) => f.move("/contexts/site/src", "/workspace"),
      lines: ["write /workspace: reserved_name", "delete /contexts/site/src: reserved_name"],
      fails: "reserved_name",
    },
    {
      name: "may be used in a subdirectory",
      given: context({ "peers/p": "P", "contexts/c": "C" }),
      does: (f) => f.copy("/contexts/site", "site"),
      changes: {
        workspace: { "site/contexts/c": "C", "site/peers/p": "P" },
        own: ["/workspace/site/contexts/c", "/workspace/site/peers/p"],
      },
      lines: ["write /workspace/site", "read /contexts/site"],
    },
    {
      name: "may be the start of another name",
      given: context({ "peers.md": "P", "contexts2/c": "C" }),
      does: (f) => f.copy("/contexts/site", "/workspace"),
      changes: {
        workspace: { "contexts2/c": "C", "peers.md": "P" },
        own: ["/workspace/contexts2/c", "/workspace/peers.md"],
      },
      lines: ["write /workspace", "read /contexts/site"],
    },
    {
      name: "may be used at the top of a context",
      given: { workspace: { "a/peers/p": "P" }, ...context({}, true) },
      does: (f) => f.copy("a", "/contexts/site"),
      changes: { site: { "peers/p": "P" }, own: ["/contexts/site/peers/p"] },
      lines: ["write /contexts/site", "read /workspace/a"],
    },
  ]);

  it("have an error with the obstacle and a remedy", async () => {
    const files = (await Rig.of(context({ a: "A", "peers/p": "P" }))).open();
    expect(() => files.copy("/contexts/site", "/workspace")).toThrow(
      "/workspace/peers leads to /peers, so nothing can be put there. Take a directory in the workspace for all of it, e.g. /workspace/copy.",
    );
  });
});

/** Trees from before such names were refused may contain them. */
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
    const found = fileTools().find(({ spec }) => spec.name === tool);
    if (!found) throw new Error(`there is no tool ${tool}`);
    expect(await runTool(found, args, (await Rig.of(OLD)).open())).toMatchObject({
      outcome: "ok",
      text,
    });
  });

  it("returns only paths of its own files", async () => {
    const files = (await Rig.of(OLD)).open();
    const { paths } = files.walk("/", 100);
    expect(paths.map((path) => files.stat(path).kind)).toEqual(["file"]);
    expect(files.staged().directories).toEqual(["/workspace/peers/empty"]);
  });

  it("keeps its contents there unchanged", async () => {
    const rig = await Rig.of(OLD);
    const files = rig.open();
    files.copy("/workspace/a.txt", "/workspace/b.txt");
    expect(rig.changesOf(files)["workspace"]).toEqual({ "b.txt": "hello\n" });
  });
});
