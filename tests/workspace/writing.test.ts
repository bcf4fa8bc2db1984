import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/workspace/snapshot";
import { Rig } from "./rig";
import { bytes, HOME, table } from "./staged-files-table";

describe("writing", () => {
  const LIMITS = { fileBytes: 4, files: 2, treeBytes: 6 };
  table([
    {
      name: "adds a file and the directories above it",
      does: async (f) => {
        await f.write("a/b/c", bytes("X"));
        expect([f.stat("a").kind, f.stat("a/b").kind]).toEqual(["directory", "directory"]);
      },
      changes: { workspace: { "a/b/c": "X" }, own: ["/workspace/a/b/c"] },
      lines: ["write /workspace/a/b/c", "list /workspace", "list /workspace/a"],
    },
    {
      name: "replaces a file",
      given: HOME,
      does: (f) => f.write("a.txt", bytes("X")),
      changes: { workspace: { "a.txt": "X" }, own: ["/workspace/a.txt"] },
      lines: ["write /workspace/a.txt"],
    },
    {
      name: "of equal contents is no change",
      given: HOME,
      does: (f) => f.write("a.txt", bytes("A")),
      changes: { own: ["/workspace/a.txt"] },
      lines: ["write /workspace/a.txt"],
    },
    {
      name: "keeps only the last contents",
      does: async (f) => {
        await f.write("a", bytes("1"));
        await f.write("a", bytes("2"));
      },
      changes: { workspace: { a: "2" }, own: ["/workspace/a"] },
      lines: ["write /workspace/a"],
    },
    {
      name: "may make an executable file, and keeps it executable",
      does: async (f) => {
        await f.write("run", bytes("1"), true);
        await f.write("run", bytes("2"));
        expect(f.stat("run").executable).toBe(true);
      },
      changes: { workspace: { run: "2*" }, own: ["/workspace/run"] },
      lines: ["write /workspace/run", "list /workspace"],
    },
    {
      name: "does not replace a directory by a file",
      given: HOME,
      does: (f) => f.write("src", bytes("X")),
      lines: ["write /workspace/src: is_directory"],
      fails: "is_directory",
    },
    {
      name: "does not put a file into a file",
      given: HOME,
      does: (f) => f.write("a.txt/x", bytes("X")),
      lines: ["write /workspace/a.txt/x: not_a_directory"],
      fails: "not_a_directory",
    },
    {
      name: "does not replace the workspace",
      does: (f) => f.write("/workspace", bytes("X")),
      lines: ["write /workspace: is_directory"],
      fails: "is_directory",
    },
    {
      name: "does not change a peer's snapshot",
      given: { peers: { agent1: { p: "P" } } },
      does: (f) => f.write("/peers/agent1/p", bytes("X")),
      lines: ["write /peers/agent1/p: read_only"],
      fails: "read_only",
    },
    {
      name: "does not change a read-only context",
      given: { contexts: { site: { files: { i: "I" } } } },
      does: (f) => f.write("/contexts/site/i", bytes("X")),
      lines: ["write /contexts/site/i: read_only"],
      fails: "read_only",
    },
    {
      name: "changes a writable context",
      given: { contexts: { site: { files: { i: "I" }, writable: true } } },
      does: (f) => f.write("/contexts/site/i", bytes("X")),
      changes: { site: { i: "X" }, own: ["/contexts/site/i"] },
      lines: ["write /contexts/site/i"],
    },
    {
      name: "does not change its protected files",
      given: { contexts: { site: { files: {}, writable: true, protectedPaths: ["*.pem"] } } },
      does: (f) => f.write("/contexts/site/a/key.pem", bytes("X")),
      lines: ["write /contexts/site/a/key.pem: protected"],
      fails: "protected",
    },
    {
      name: "does not change the team's protected files, despite exceptions in the agent's entries",
      given: {
        contexts: {
          site: {
            files: {},
            writable: true,
            protectedPaths: ["!a.pem"],
            teamProtectedPaths: ["*.pem"],
          },
        },
      },
      does: (f) => f.write("/contexts/site/a.pem", bytes("X")),
      lines: ["write /contexts/site/a.pem: protected"],
      fails: "protected",
    },
    {
      name: "may fill a file to its limit",
      given: { limits: LIMITS },
      does: (f) => f.write("a", bytes("1234")),
      changes: { workspace: { a: "1234" }, own: ["/workspace/a"] },
      lines: ["write /workspace/a"],
    },
    {
      name: "may not exceed the limit of a file",
      given: { limits: LIMITS },
      does: (f) => f.write("a", bytes("12345")),
      lines: ["write /workspace/a: file_too_large"],
      fails: "file_too_large",
    },
    {
      name: "is refused before any change if it would exceed the limit",
      given: { limits: LIMITS },
      does: (f) => f.checkWrite("a", 5),
      lines: ["write /workspace/a: file_too_large"],
      fails: "file_too_large",
    },
    {
      name: "logs no line for a permission check",
      given: { limits: LIMITS },
      does: (f) => f.checkWrite("a", 4),
      lines: [],
    },
    {
      name: "is limited in one call by the memory for new contents",
      given: { stagedBytes: 5 },
      does: async (f) => {
        await f.write("a", bytes("123"));
        await f.write("b", bytes("456"));
      },
      changes: { workspace: { a: "123" }, own: ["/workspace/a"] },
      lines: ["write /workspace/a", "write /workspace/b: too_much_at_once"],
      fails: "too_much_at_once",
    },
    {
      name: "may write the same contents to any number of files",
      given: { stagedBytes: 5 },
      does: async (f) => {
        await f.write("a", bytes("123"));
        await f.write("b", bytes("123"));
        f.copy("a", "c");
      },
      changes: {
        workspace: { a: "123", b: "123", c: "123" },
        own: ["/workspace/a", "/workspace/b", "/workspace/c"],
      },
      lines: [
        "write /workspace/a",
        "write /workspace/b",
        "write /workspace/c",
        "read /workspace/a",
      ],
    },
    {
      name: "releases contents without a file",
      given: { workspace: { base: "B" }, stagedBytes: 5 },
      does: async (f) => {
        await f.write("a", bytes("123"));
        await f.write("a", bytes("45"));
        await f.write("b", bytes("678"));
        f.remove("b");
        await f.write("base", bytes("B"));
        await f.write("c", bytes("987"));
      },
      changes: {
        workspace: { a: "45", c: "987" },
        own: ["/workspace/a", "/workspace/base", "/workspace/c"],
      },
      lines: [
        "write /workspace/a",
        "write /workspace/b",
        "delete /workspace/b",
        "write /workspace/base",
        "write /workspace/c",
      ],
    },
    {
      name: "may not exceed the number of files",
      given: { workspace: { a: "1", b: "2" }, limits: LIMITS },
      does: (f) => f.write("c", bytes("3")),
      lines: ["write /workspace/c: too_many_files"],
      fails: "too_many_files",
    },
    {
      name: "may not exceed the size of the tree",
      given: { workspace: { a: "1234" }, limits: LIMITS },
      does: (f) => f.write("b", bytes("123")),
      lines: ["write /workspace/b: tree_too_large"],
      fails: "tree_too_large",
    },
    {
      name: "may shrink a tree above the limit",
      given: { workspace: { a: "1234", b: "1234", c: "12" }, limits: LIMITS },
      does: (f) => f.write("a", bytes("12")),
      changes: { workspace: { a: "12" }, own: ["/workspace/a"] },
      lines: ["write /workspace/a"],
    },
  ]);

  it("copies the bytes at the call", async () => {
    const files = (await Rig.of({})).open();
    const mine = bytes("before");
    const written = files.write("a", mine);
    mine.fill(0);
    await written;
    expect(await files.read("a")).toEqual(bytes("before"));
    (await files.read("a")).fill(0);
    expect(await files.read("a")).toEqual(bytes("before"));
  });

  it("keeps binary contents", async () => {
    const files = (await Rig.of({})).open();
    const all = Uint8Array.from({ length: 256 }, (_, at) => at);
    await files.write("a.bin", all);
    expect(await files.read("a.bin")).toEqual(all);
    expect(files.staged().blobs.get(await hashOf(all))).toEqual(all);
  });

  it("is refused with the size and a remedy", async () => {
    const files = (await Rig.of({ limits: LIMITS })).open();
    await expect(files.write("a", new Uint8Array(2_000))).rejects.toThrow(
      "/workspace/a would have 2,000 bytes; a file may have 4 bytes. Split it.",
    );
  });
});

describe("directories", () => {
  table([
    {
      name: "may be made, and stay",
      does: (f) => {
        f.makeDirectory("a/b");
        expect(f.list("a")).toEqual([{ name: "b", kind: "directory", size: 0 }]);
      },
      changes: { directories: ["/workspace/a", "/workspace/a/b"] },
      lines: ["write /workspace/a/b", "list /workspace/a"],
    },
    {
      name: "of earlier calls exist",
      given: { directories: ["/workspace/old"] },
      does: (f) => expect(f.stat("old").kind).toBe("directory"),
      changes: { directories: ["/workspace/old"] },
      lines: ["list /workspace"],
    },
    {
      name: "stay when their last file is deleted",
      given: { workspace: { "a/b": "B" }, own: ["/workspace/a/b"] },
      does: (f) => {
        f.remove("a/b");
        expect(f.exists("a")).toBe(true);
      },
      changes: { workspace: { "a/b": null }, directories: ["/workspace/a"] },
      lines: ["delete /workspace/a/b", "list /workspace"],
    },
    {
      name: "may be created again",
      given: HOME,
      does: (f) => f.makeDirectory("src"),
      lines: ["write /workspace/src"],
    },
    {
      name: "may not replace a file",
      given: HOME,
      does: (f) => f.makeDirectory("a.txt"),
      lines: ["write /workspace/a.txt: not_a_directory"],
      fails: "not_a_directory",
    },
    {
      name: "may not be created in a file",
      given: HOME,
      does: (f) => f.makeDirectory("a.txt/x"),
      lines: ["write /workspace/a.txt/x: not_a_directory"],
      fails: "not_a_directory",
    },
    {
      name: "are limited in number",
      given: { directories: ["/workspace/a"], limits: { fileBytes: 9, files: 1, treeBytes: 9 } },
      does: (f) => f.makeDirectory("b"),
      changes: { directories: ["/workspace/a"] },
      lines: ["write /workspace/b: too_many_files"],
      fails: "too_many_files",
    },
    {
      name: "above a file count like created ones",
      given: { limits: { fileBytes: 9, files: 2, treeBytes: 9 } },
      does: (f) => f.write("a/b/c/x", bytes("1")),
      lines: ["write /workspace/a/b/c/x: too_many_files"],
      fails: "too_many_files",
    },
    {
      name: "of deleted files count until they are deleted too",
      given: { limits: { fileBytes: 9, files: 2, treeBytes: 9 } },
      does: async (f) => {
        await f.write("a/b/x", bytes("1"));
        f.remove("a/b/x");
        await expect(f.write("c/x", bytes("1"))).rejects.toMatchObject({ code: "too_many_files" });
        f.remove("a/b");
        await f.write("c/x", bytes("1"));
      },
      changes: {
        workspace: { "c/x": "1" },
        directories: ["/workspace/a"],
        own: ["/workspace/c/x"],
      },
      lines: [
        "write /workspace/a/b/x",
        "delete /workspace/a/b/x",
        "write /workspace/c/x: too_many_files",
        "delete /workspace/a/b",
        "write /workspace/c/x",
      ],
    },
    {
      name: "of unread mounts are kept",
      given: { directories: ["/workspace/old"] },
      does: (f) => f.list("/"),
      changes: { directories: ["/workspace/old"] },
      lines: ["list /"],
    },
  ]);
});
