import { describe, expect, it } from "vitest";
import { type Setup, Rig } from "./rig";
import { bytes, HOME, testRows } from "./staged-files-table";

describe("remove", () => {
  const READ: Setup = {
    ...HOME,
    read: ["/workspace/a.txt", "/workspace/src/b.txt", "/workspace/src/lib/c.txt"],
  };
  testRows([
    {
      name: "removes a file that was read",
      setup: READ,
      act: (f) => f.remove("a.txt"),
      changes: { workspace: { "a.txt": null } },
      accesses: ["delete /workspace/a.txt"],
    },
    {
      name: "refuses a file that was not read",
      setup: HOME,
      act: (f) => f.remove("a.txt"),
      accesses: ["delete /workspace/a.txt: not_read"],
      code: "not_read",
    },
    {
      name: "removes a file after the agent has read it",
      setup: HOME,
      act: async (f) => {
        await f.read("a.txt");
        f.remove("a.txt");
      },
      changes: { workspace: { "a.txt": null } },
      accesses: ["read /workspace/a.txt", "delete /workspace/a.txt"],
    },
    {
      name: "removes a file that the agent wrote",
      act: async (f) => {
        await f.write("x", bytes("X"));
        f.remove("x");
      },
      changes: {},
      accesses: ["write /workspace/x", "delete /workspace/x"],
    },
    {
      name: "removes unread files if reading is not required",
      setup: { ...HOME, readBeforeDelete: false },
      act: (f) => f.remove("src"),
      changes: { workspace: { "src/b.txt": null, "src/lib/c.txt": null } },
      accesses: ["delete /workspace/src"],
    },
    {
      name: "removes a directory with all its files",
      setup: READ,
      act: (f) => {
        f.remove("src");
        expect(f.exists("src")).toBe(false);
      },
      changes: { workspace: { "src/b.txt": null, "src/lib/c.txt": null } },
      accesses: ["delete /workspace/src", "list /workspace"],
    },
    {
      name: "refuses a directory if one file in it was not read",
      setup: { ...HOME, read: ["/workspace/src/b.txt"] },
      act: (f) => f.remove("src"),
      accesses: ["delete /workspace/src: not_read"],
      code: "not_read",
    },
    {
      name: "refuses the workspace itself",
      setup: READ,
      act: (f) => f.remove("/workspace"),
      accesses: ["delete /workspace: is_root"],
      code: "is_root",
    },
    {
      name: "fails for a missing file",
      setup: READ,
      act: (f) => f.remove("x"),
      accesses: ["delete /workspace/x: not_found"],
      code: "not_found",
    },
    {
      name: "refuses a peer's file, even if it was read",
      setup: { peers: { agent1: { p: "P" } }, read: ["/peers/agent1/p"] },
      act: (f) => f.remove("/peers/agent1/p"),
      accesses: ["delete /peers/agent1/p: read_only"],
      code: "read_only",
    },
    {
      name: "refuses a directory with a protected file in it",
      setup: {
        contexts: {
          site: {
            files: { "a/i": "I", "a/key.pem": "K" },
            writable: true,
            protectedPaths: ["*.pem"],
          },
        },
        read: ["/contexts/site/a/i", "/contexts/site/a/key.pem"],
      },
      act: (f) => f.remove("/contexts/site/a"),
      accesses: ["delete /contexts/site/a: protected"],
      code: "protected",
    },
  ]);
});

describe("copy", () => {
  testRows([
    {
      name: "shares the contents",
      setup: HOME,
      act: (f) => f.copy("a.txt", "d.txt"),
      changes: { workspace: { "d.txt": "A" }, own: ["/workspace/d.txt"] },
      accesses: ["write /workspace/d.txt", "read /workspace/a.txt"],
    },
    {
      name: "copies a peer's snapshot into the workspace",
      setup: { peers: { agent1: { "p/q": "Q", r: "R" } } },
      act: (f) => f.copy("/peers/agent1", "base"),
      changes: {
        workspace: { "base/p/q": "Q", "base/r": "R" },
        own: ["/workspace/base/p/q", "/workspace/base/r"],
      },
      accesses: ["write /workspace/base", "read /peers/agent1"],
    },
    {
      name: "may merge a snapshot with the workspace",
      setup: { workspace: { r: "old", s: "S" }, peers: { agent1: { r: "R" } } },
      act: (f) => f.copy("/peers/agent1", "/workspace"),
      changes: { workspace: { r: "R" }, own: ["/workspace/r"] },
      accesses: ["write /workspace", "read /peers/agent1"],
    },
    {
      name: "copies empty directories too",
      setup: { directories: ["/workspace/a/e"] },
      act: (f) => f.copy("a", "b"),
      changes: {
        directories: ["/workspace/a", "/workspace/a/e", "/workspace/b", "/workspace/b/e"],
      },
      accesses: ["write /workspace/b", "read /workspace/a"],
    },
    {
      name: "changes nothing if source and target are equal",
      setup: HOME,
      act: (f) => f.copy("src", "src/"),
      accesses: ["write /workspace/src", "read /workspace/src"],
    },
    {
      name: "refuses a directory into itself",
      setup: HOME,
      act: (f) => f.copy("src", "src/copy"),
      accesses: ["write /workspace/src/copy: into_itself", "read /workspace/src: into_itself"],
      code: "into_itself",
    },
    {
      name: "refuses a directory onto a file",
      setup: HOME,
      act: (f) => f.copy("src", "a.txt"),
      accesses: ["write /workspace/a.txt: not_a_directory", "read /workspace/src: not_a_directory"],
      code: "not_a_directory",
    },
    {
      name: "refuses a file onto a directory",
      setup: HOME,
      act: (f) => f.copy("a.txt", "src"),
      accesses: ["write /workspace/src: is_directory", "read /workspace/a.txt: is_directory"],
      code: "is_directory",
    },
    {
      name: "refuses a peer's directory as a target",
      setup: { ...HOME, peers: { agent1: {} } },
      act: (f) => f.copy("a.txt", "/peers/agent1/a.txt"),
      accesses: ["write /peers/agent1/a.txt: read_only", "read /workspace/a.txt: read_only"],
      code: "read_only",
    },
    {
      name: "fails for a missing file before any write",
      setup: HOME,
      act: (f) => f.copy("x", "y"),
      accesses: ["read /workspace/x: not_found"],
      code: "not_found",
    },
    {
      name: "changes nothing if it would exceed the limit of files",
      setup: {
        workspace: { "a/1": "1", "a/2": "2" },
        limits: { fileBytes: 9, files: 3, treeBytes: 99 },
      },
      act: (f) => f.copy("a", "b"),
      accesses: ["write /workspace/b: too_many_files", "read /workspace/a: too_many_files"],
      code: "too_many_files",
    },
    {
      name: "counts the directories that it creates",
      setup: { workspace: { "a/b/1": "1" }, limits: { fileBytes: 9, files: 3, treeBytes: 99 } },
      act: (f) => f.copy("a", "c"),
      accesses: ["write /workspace/c: too_many_files", "read /workspace/a: too_many_files"],
      code: "too_many_files",
    },
    {
      name: "refuses a path with too many levels",
      setup: { workspace: { [`${"d/".repeat(38)}x`]: "X" } },
      act: (f) => f.copy("d", "a/b/c/d"),
      accesses: ["write /workspace/a/b/c/d: path_too_long", "read /workspace/d: path_too_long"],
      code: "path_too_long",
    },
  ]);

  it("does not read the contents, and neither does move", async () => {
    const rig = await Rig.of(HOME);
    const files = rig.open();
    files.copy("src", "copy");
    files.move("copy", "moved");
    expect(rig.readHashes).toEqual([]);
    expect(new TextDecoder().decode(await files.read("moved/lib/c.txt"))).toBe("C");
  });
});

describe("move", () => {
  testRows([
    {
      name: "renames a file",
      setup: HOME,
      act: (f) => f.move("a.txt", "d.txt"),
      changes: { workspace: { "a.txt": null, "d.txt": "A" }, foreign: ["/workspace/d.txt"] },
      accesses: ["write /workspace/d.txt", "delete /workspace/a.txt"],
    },
    {
      name: "moves a directory with all its files",
      setup: HOME,
      act: (f) => {
        f.move("src", "lib/src");
        expect(f.exists("src")).toBe(false);
      },
      changes: {
        workspace: {
          "src/b.txt": null,
          "src/lib/c.txt": null,
          "lib/src/b.txt": "B",
          "lib/src/lib/c.txt": "C",
        },
        foreign: ["/workspace/lib/src/b.txt", "/workspace/lib/src/lib/c.txt"],
      },
      accesses: ["write /workspace/lib/src", "delete /workspace/src", "list /workspace"],
    },
    {
      name: "moves new contents too",
      act: async (f) => {
        await f.write("a", bytes("X"));
        f.move("a", "b");
        expect(await f.read("b")).toEqual(bytes("X"));
      },
      changes: { workspace: { b: "X" }, own: ["/workspace/b"], read: ["/workspace/b"] },
      accesses: [
        "write /workspace/a",
        "write /workspace/b",
        "delete /workspace/a",
        "read /workspace/b",
      ],
    },
    {
      name: "does not mark an unread file as the agent's own",
      setup: HOME,
      act: (f) => {
        f.move("a.txt", "b");
        f.remove("b");
      },
      changes: { workspace: { "a.txt": null, b: "A" }, foreign: ["/workspace/b"] },
      accesses: ["write /workspace/b", "delete /workspace/a.txt", "delete /workspace/b: not_read"],
      code: "not_read",
    },
    {
      name: "does not mark an unread file as own, even if it replaces an own file",
      setup: { ...HOME, own: ["/workspace/b"] },
      act: (f) => {
        f.move("a.txt", "b");
        f.remove("b");
      },
      changes: { workspace: { "a.txt": null, b: "A" }, foreign: ["/workspace/b"] },
      accesses: ["write /workspace/b", "delete /workspace/a.txt", "delete /workspace/b: not_read"],
      code: "not_read",
    },
    {
      name: "keeps a read file marked as read",
      setup: { ...HOME, read: ["/workspace/a.txt"] },
      act: (f) => {
        f.move("a.txt", "b");
        f.remove("b");
      },
      changes: { workspace: { "a.txt": null } },
      accesses: ["write /workspace/b", "delete /workspace/a.txt", "delete /workspace/b"],
    },
    {
      name: "refuses to move an unread file out of its tree",
      setup: { contexts: { site: { files: { a: "A" }, writable: true } } },
      act: (f) => f.move("/contexts/site/a", "/workspace/a"),
      accesses: ["write /workspace/a: not_read", "delete /contexts/site/a: not_read"],
      code: "not_read",
    },
    {
      name: "refuses to move an unread file to the folder of results, which is not part of answers",
      setup: HOME,
      act: (f) => f.move("src", ".tool_results"),
      accesses: ["write /workspace/.tool_results: not_read", "delete /workspace/src: not_read"],
      code: "not_read",
    },
    {
      name: "moves a read file out of its tree",
      setup: {
        contexts: { site: { files: { a: "A" }, writable: true } },
        read: ["/contexts/site/a"],
      },
      act: (f) => f.move("/contexts/site/a", ".tool_results/a"),
      changes: {
        workspace: { ".tool_results/a": "A" },
        site: { a: null },
        read: ["/workspace/.tool_results/a"],
      },
      accesses: ["write /workspace/.tool_results/a", "delete /contexts/site/a"],
    },
    {
      name: "renames unread results within their folder",
      setup: { workspace: { ".tool_results/a": "A" } },
      act: (f) => f.move(".tool_results/a", ".tool_results/b"),
      changes: {
        workspace: { ".tool_results/a": null, ".tool_results/b": "A" },
        foreign: ["/workspace/.tool_results/b"],
      },
      accesses: ["write /workspace/.tool_results/b", "delete /workspace/.tool_results/a"],
    },
    {
      name: "refuses the workspace itself",
      setup: HOME,
      act: (f) => f.move("/workspace", "x"),
      accesses: ["write /workspace/x: is_root", "delete /workspace: is_root"],
      code: "is_root",
    },
    {
      name: "refuses a directory onto a non-empty directory",
      setup: HOME,
      act: (f) => f.move("src/lib", "src"),
      accesses: ["write /workspace/src: exists", "delete /workspace/src/lib: exists"],
      code: "exists",
    },
    {
      name: "refuses a peer's file",
      setup: { peers: { agent1: { p: "P" } } },
      act: (f) => f.move("/peers/agent1/p", "p"),
      accesses: ["delete /peers/agent1/p: read_only"],
      code: "read_only",
    },
    {
      name: "refuses to move protected files",
      setup: {
        contexts: {
          site: { files: { "a/key.pem": "K" }, writable: true, protectedPaths: ["*.pem"] },
        },
      },
      act: (f) => f.move("/contexts/site/a", "a"),
      accesses: ["write /workspace/a: protected", "delete /contexts/site/a: protected"],
      code: "protected",
    },
    {
      name: "refuses to move a file to a protected path",
      setup: {
        ...HOME,
        contexts: { site: { files: {}, writable: true, protectedPaths: ["src/lib/"] } },
      },
      act: (f) => f.move("src", "/contexts/site/src"),
      accesses: ["write /contexts/site/src: protected", "delete /workspace/src: protected"],
      code: "protected",
    },
    {
      name: "moves a file within a full tree",
      setup: { workspace: { a: "1", b: "2" }, limits: { fileBytes: 9, files: 2, treeBytes: 2 } },
      act: (f) => f.move("a", "c"),
      changes: { workspace: { a: null, c: "1" }, foreign: ["/workspace/c"] },
      accesses: ["write /workspace/c", "delete /workspace/a"],
    },
  ]);
});
