import { describe, expect, it } from "vitest";
import { type Setup, Rig } from "./rig";
import { bytes, HOME, table } from "./staged-files-table";

describe("deleting", () => {
  const READ: Setup = {
    ...HOME,
    read: ["/workspace/a.txt", "/workspace/src/b.txt", "/workspace/src/lib/c.txt"],
  };
  table([
    {
      name: "moves a file that was read",
      given: READ,
      does: (f) => f.remove("a.txt"),
      changes: { workspace: { "a.txt": null } },
      lines: ["delete /workspace/a.txt"],
    },
    {
      name: "refuses a file that was not read",
      given: HOME,
      does: (f) => f.remove("a.txt"),
      lines: ["delete /workspace/a.txt: not_read"],
      fails: "not_read",
    },
    {
      name: "succeeds once the file was read",
      given: HOME,
      does: async (f) => {
        await f.read("a.txt");
        f.remove("a.txt");
      },
      changes: { workspace: { "a.txt": null } },
      lines: ["read /workspace/a.txt", "delete /workspace/a.txt"],
    },
    {
      name: "succeeds for a file that the agent wrote",
      does: async (f) => {
        await f.write("x", bytes("X"));
        f.remove("x");
      },
      changes: {},
      lines: ["write /workspace/x", "delete /workspace/x"],
    },
    {
      name: "succeeds for any file if reading is not required",
      given: { ...HOME, readBeforeDelete: false },
      does: (f) => f.remove("src"),
      changes: { workspace: { "src/b.txt": null, "src/lib/c.txt": null } },
      lines: ["delete /workspace/src"],
    },
    {
      name: "deletes a directory with all its files",
      given: READ,
      does: (f) => {
        f.remove("src");
        expect(f.exists("src")).toBe(false);
      },
      changes: { workspace: { "src/b.txt": null, "src/lib/c.txt": null } },
      lines: ["delete /workspace/src", "list /workspace"],
    },
    {
      name: "refuses a directory as a whole if one file in it was not read",
      given: { ...HOME, read: ["/workspace/src/b.txt"] },
      does: (f) => f.remove("src"),
      lines: ["delete /workspace/src: not_read"],
      fails: "not_read",
    },
    {
      name: "refuses the workspace itself",
      given: READ,
      does: (f) => f.remove("/workspace"),
      lines: ["delete /workspace: is_root"],
      fails: "is_root",
    },
    {
      name: "fails for a missing file",
      given: READ,
      does: (f) => f.remove("x"),
      lines: ["delete /workspace/x: not_found"],
      fails: "not_found",
    },
    {
      name: "refuses a peer's file, read or not",
      given: { peers: { agent1: { p: "P" } }, read: ["/peers/agent1/p"] },
      does: (f) => f.remove("/peers/agent1/p"),
      lines: ["delete /peers/agent1/p: read_only"],
      fails: "read_only",
    },
    {
      name: "refuses a directory with a protected file in it",
      given: {
        contexts: {
          site: {
            files: { "a/i": "I", "a/key.pem": "K" },
            writable: true,
            protectedPaths: ["*.pem"],
          },
        },
        read: ["/contexts/site/a/i", "/contexts/site/a/key.pem"],
      },
      does: (f) => f.remove("/contexts/site/a"),
      lines: ["delete /contexts/site/a: protected"],
      fails: "protected",
    },
  ]);
});

describe("copying", () => {
  table([
    {
      name: "shares the contents",
      given: HOME,
      does: (f) => f.copy("a.txt", "d.txt"),
      changes: { workspace: { "d.txt": "A" }, own: ["/workspace/d.txt"] },
      lines: ["write /workspace/d.txt", "read /workspace/a.txt"],
    },
    {
      name: "copies a peer's snapshot into the workspace",
      given: { peers: { agent1: { "p/q": "Q", r: "R" } } },
      does: (f) => f.copy("/peers/agent1", "base"),
      changes: {
        workspace: { "base/p/q": "Q", "base/r": "R" },
        own: ["/workspace/base/p/q", "/workspace/base/r"],
      },
      lines: ["write /workspace/base", "read /peers/agent1"],
    },
    {
      name: "may merge a snapshot with the workspace",
      given: { workspace: { r: "old", s: "S" }, peers: { agent1: { r: "R" } } },
      does: (f) => f.copy("/peers/agent1", "/workspace"),
      changes: { workspace: { r: "R" }, own: ["/workspace/r"] },
      lines: ["write /workspace", "read /peers/agent1"],
    },
    {
      name: "copies empty directories too",
      given: { directories: ["/workspace/a/e"] },
      does: (f) => f.copy("a", "b"),
      changes: {
        directories: ["/workspace/a", "/workspace/a/e", "/workspace/b", "/workspace/b/e"],
      },
      lines: ["write /workspace/b", "read /workspace/a"],
    },
    {
      name: "onto itself does nothing",
      given: HOME,
      does: (f) => f.copy("src", "src/"),
      lines: ["write /workspace/src", "read /workspace/src"],
    },
    {
      name: "refuses a directory into itself",
      given: HOME,
      does: (f) => f.copy("src", "src/copy"),
      lines: ["write /workspace/src/copy: into_itself", "read /workspace/src: into_itself"],
      fails: "into_itself",
    },
    {
      name: "refuses a directory onto a file",
      given: HOME,
      does: (f) => f.copy("src", "a.txt"),
      lines: ["write /workspace/a.txt: not_a_directory", "read /workspace/src: not_a_directory"],
      fails: "not_a_directory",
    },
    {
      name: "refuses a file onto a directory",
      given: HOME,
      does: (f) => f.copy("a.txt", "src"),
      lines: ["write /workspace/src: is_directory", "read /workspace/a.txt: is_directory"],
      fails: "is_directory",
    },
    {
      name: "out of the workspace is refused",
      given: { ...HOME, peers: { agent1: {} } },
      does: (f) => f.copy("a.txt", "/peers/agent1/a.txt"),
      lines: ["write /peers/agent1/a.txt: read_only", "read /workspace/a.txt: read_only"],
      fails: "read_only",
    },
    {
      name: "of a missing file fails before any write",
      given: HOME,
      does: (f) => f.copy("x", "y"),
      lines: ["read /workspace/x: not_found"],
      fails: "not_found",
    },
    {
      name: "keeps the limits, or does nothing",
      given: {
        workspace: { "a/1": "1", "a/2": "2" },
        limits: { fileBytes: 9, files: 3, treeBytes: 99 },
      },
      does: (f) => f.copy("a", "b"),
      lines: ["write /workspace/b: too_many_files", "read /workspace/a: too_many_files"],
      fails: "too_many_files",
    },
    {
      name: "creates its directories, which count",
      given: { workspace: { "a/b/1": "1" }, limits: { fileBytes: 9, files: 3, treeBytes: 99 } },
      does: (f) => f.copy("a", "c"),
      lines: ["write /workspace/c: too_many_files", "read /workspace/a: too_many_files"],
      fails: "too_many_files",
    },
    {
      name: "makes no path above the length limit",
      given: { workspace: { [`${"d/".repeat(38)}x`]: "X" } },
      does: (f) => f.copy("d", "a/b/c/d"),
      lines: ["write /workspace/a/b/c/d: path_too_long", "read /workspace/d: path_too_long"],
      fails: "path_too_long",
    },
  ]);

  it("never requests the bytes", async () => {
    const rig = await Rig.of(HOME);
    const files = rig.open();
    files.copy("src", "copy");
    files.move("copy", "moved");
    expect(rig.asked).toEqual([]);
    expect(new TextDecoder().decode(await files.read("moved/lib/c.txt"))).toBe("C");
  });
});

describe("moving", () => {
  table([
    {
      name: "renames a file",
      given: HOME,
      does: (f) => f.move("a.txt", "d.txt"),
      changes: { workspace: { "a.txt": null, "d.txt": "A" }, foreign: ["/workspace/d.txt"] },
      lines: ["write /workspace/d.txt", "delete /workspace/a.txt"],
    },
    {
      name: "moves a directory with all its files",
      given: HOME,
      does: (f) => {
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
      lines: ["write /workspace/lib/src", "delete /workspace/src", "list /workspace"],
    },
    {
      name: "moves new contents too",
      does: async (f) => {
        await f.write("a", bytes("X"));
        f.move("a", "b");
        expect(await f.read("b")).toEqual(bytes("X"));
      },
      changes: { workspace: { b: "X" }, own: ["/workspace/b"], read: ["/workspace/b"] },
      lines: [
        "write /workspace/a",
        "write /workspace/b",
        "delete /workspace/a",
        "read /workspace/b",
      ],
    },
    {
      name: "does not mark an unread file as the agent's own",
      given: HOME,
      does: (f) => {
        f.move("a.txt", "b");
        f.remove("b");
      },
      changes: { workspace: { "a.txt": null, b: "A" }, foreign: ["/workspace/b"] },
      lines: ["write /workspace/b", "delete /workspace/a.txt", "delete /workspace/b: not_read"],
      fails: "not_read",
    },
    {
      name: "does not mark it as own if an own file was there",
      given: { ...HOME, own: ["/workspace/b"] },
      does: (f) => {
        f.move("a.txt", "b");
        f.remove("b");
      },
      changes: { workspace: { "a.txt": null, b: "A" }, foreign: ["/workspace/b"] },
      lines: ["write /workspace/b", "delete /workspace/a.txt", "delete /workspace/b: not_read"],
      fails: "not_read",
    },
    {
      name: "keeps a read file marked as read",
      given: { ...HOME, read: ["/workspace/a.txt"] },
      does: (f) => {
        f.move("a.txt", "b");
        f.remove("b");
      },
      changes: { workspace: { "a.txt": null } },
      lines: ["write /workspace/b", "delete /workspace/a.txt", "delete /workspace/b"],
    },
    {
      name: "refuses to move an unread file out of its tree, where it would be lost",
      given: { contexts: { site: { files: { a: "A" }, writable: true } } },
      does: (f) => f.move("/contexts/site/a", "/workspace/a"),
      lines: ["write /workspace/a: not_read", "delete /contexts/site/a: not_read"],
      fails: "not_read",
    },
    {
      name: "refuses to move an unread file to the folder of results, which is never returned",
      given: HOME,
      does: (f) => f.move("src", ".tool_results"),
      lines: ["write /workspace/.tool_results: not_read", "delete /workspace/src: not_read"],
      fails: "not_read",
    },
    {
      name: "moves a read file out of its tree",
      given: {
        contexts: { site: { files: { a: "A" }, writable: true } },
        read: ["/contexts/site/a"],
      },
      does: (f) => f.move("/contexts/site/a", ".tool_results/a"),
      changes: {
        workspace: { ".tool_results/a": "A" },
        site: { a: null },
        read: ["/workspace/.tool_results/a"],
      },
      lines: ["write /workspace/.tool_results/a", "delete /contexts/site/a"],
    },
    {
      name: "renames unread results within their folder",
      given: { workspace: { ".tool_results/a": "A" } },
      does: (f) => f.move(".tool_results/a", ".tool_results/b"),
      changes: {
        workspace: { ".tool_results/a": null, ".tool_results/b": "A" },
        foreign: ["/workspace/.tool_results/b"],
      },
      lines: ["write /workspace/.tool_results/b", "delete /workspace/.tool_results/a"],
    },
    {
      name: "refuses the workspace itself",
      given: HOME,
      does: (f) => f.move("/workspace", "x"),
      lines: ["write /workspace/x: is_root", "delete /workspace: is_root"],
      fails: "is_root",
    },
    {
      name: "refuses a directory onto a non-empty directory",
      given: HOME,
      does: (f) => f.move("src/lib", "src"),
      lines: ["write /workspace/src: exists", "delete /workspace/src/lib: exists"],
      fails: "exists",
    },
    {
      name: "refuses a peer's file",
      given: { peers: { agent1: { p: "P" } } },
      does: (f) => f.move("/peers/agent1/p", "p"),
      lines: ["delete /peers/agent1/p: read_only"],
      fails: "read_only",
    },
    {
      name: "refuses to move protected files",
      given: {
        contexts: {
          site: { files: { "a/key.pem": "K" }, writable: true, protectedPaths: ["*.pem"] },
        },
      },
      does: (f) => f.move("/contexts/site/a", "a"),
      lines: ["write /workspace/a: protected", "delete /contexts/site/a: protected"],
      fails: "protected",
    },
    {
      name: "refuses to move a file to a protected path",
      given: {
        ...HOME,
        contexts: { site: { files: {}, writable: true, protectedPaths: ["src/lib/"] } },
      },
      does: (f) => f.move("src", "/contexts/site/src"),
      lines: ["write /contexts/site/src: protected", "delete /workspace/src: protected"],
      fails: "protected",
    },
    {
      name: "within a full tree needs no room",
      given: { workspace: { a: "1", b: "2" }, limits: { fileBytes: 9, files: 2, treeBytes: 2 } },
      does: (f) => f.move("a", "c"),
      changes: { workspace: { a: null, c: "1" }, foreign: ["/workspace/c"] },
      lines: ["write /workspace/c", "delete /workspace/a"],
    },
  ]);
});
