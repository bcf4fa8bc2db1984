import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/workspace/snapshot";
import { Rig } from "./rig";
import { bytes, HOME, testRows } from "./staged-files-table";

describe("writing", () => {
  const LIMITS = { fileBytes: 4, files: 2, treeBytes: 6 };
  testRows([
    {
      name: "adds a file and its parent directories",
      act: async (f) => {
        await f.write("a/b/c", bytes("X"));
        expect([f.stat("a").kind, f.stat("a/b").kind]).toEqual(["directory", "directory"]);
      },
      changes: { workspace: { "a/b/c": "X" }, own: ["/workspace/a/b/c"] },
      accesses: ["write /workspace/a/b/c", "list /workspace", "list /workspace/a"],
    },
    {
      name: "replaces a file",
      setup: HOME,
      act: (f) => f.write("a.txt", bytes("X")),
      changes: { workspace: { "a.txt": "X" }, own: ["/workspace/a.txt"] },
      accesses: ["write /workspace/a.txt"],
    },
    {
      name: "changes nothing if the contents are equal",
      setup: HOME,
      act: (f) => f.write("a.txt", bytes("A")),
      changes: { own: ["/workspace/a.txt"] },
      accesses: ["write /workspace/a.txt"],
    },
    {
      name: "keeps only the last contents",
      act: async (f) => {
        await f.write("a", bytes("1"));
        await f.write("a", bytes("2"));
      },
      changes: { workspace: { a: "2" }, own: ["/workspace/a"] },
      accesses: ["write /workspace/a"],
    },
    {
      name: "creates an executable file, and a later write keeps it executable",
      act: async (f) => {
        await f.write("run", bytes("1"), true);
        await f.write("run", bytes("2"));
        expect(f.stat("run").executable).toBe(true);
      },
      changes: { workspace: { run: "2*" }, own: ["/workspace/run"] },
      accesses: ["write /workspace/run", "list /workspace"],
    },
    {
      name: "does not replace a directory by a file",
      setup: HOME,
      act: (f) => f.write("src", bytes("X")),
      accesses: ["write /workspace/src: is_directory"],
      code: "is_directory",
    },
    {
      name: "does not put a file into a file",
      setup: HOME,
      act: (f) => f.write("a.txt/x", bytes("X")),
      accesses: ["write /workspace/a.txt/x: not_a_directory"],
      code: "not_a_directory",
    },
    {
      name: "does not replace the workspace",
      act: (f) => f.write("/workspace", bytes("X")),
      accesses: ["write /workspace: is_directory"],
      code: "is_directory",
    },
    {
      name: "does not change a peer's snapshot",
      setup: { peers: { agent1: { p: "P" } } },
      act: (f) => f.write("/peers/agent1/p", bytes("X")),
      accesses: ["write /peers/agent1/p: read_only"],
      code: "read_only",
    },
    {
      name: "does not change a read-only context",
      setup: { contexts: { site: { files: { i: "I" } } } },
      act: (f) => f.write("/contexts/site/i", bytes("X")),
      accesses: ["write /contexts/site/i: read_only"],
      code: "read_only",
    },
    {
      name: "changes a writable context",
      setup: { contexts: { site: { files: { i: "I" }, writable: true } } },
      act: (f) => f.write("/contexts/site/i", bytes("X")),
      changes: { site: { i: "X" }, own: ["/contexts/site/i"] },
      accesses: ["write /contexts/site/i"],
    },
    {
      name: "does not change the protected files of a writable context",
      setup: { contexts: { site: { files: {}, writable: true, protectedPaths: ["*.pem"] } } },
      act: (f) => f.write("/contexts/site/a/key.pem", bytes("X")),
      accesses: ["write /contexts/site/a/key.pem: protected"],
      code: "protected",
    },
    {
      name: "does not change the team's protected files, despite exceptions in the agent's entries",
      setup: {
        contexts: {
          site: {
            files: {},
            writable: true,
            protectedPaths: ["!a.pem"],
            teamProtectedPaths: ["*.pem"],
          },
        },
      },
      act: (f) => f.write("/contexts/site/a.pem", bytes("X")),
      accesses: ["write /contexts/site/a.pem: protected"],
      code: "protected",
    },
    {
      name: "accepts a file of the maximum size",
      setup: { limits: LIMITS },
      act: (f) => f.write("a", bytes("1234")),
      changes: { workspace: { a: "1234" }, own: ["/workspace/a"] },
      accesses: ["write /workspace/a"],
    },
    {
      name: "refuses a file above the maximum size",
      setup: { limits: LIMITS },
      act: (f) => f.write("a", bytes("12345")),
      accesses: ["write /workspace/a: file_too_large"],
      code: "file_too_large",
    },
    {
      name: "is refused by checkWrite if the contents are too large",
      setup: { limits: LIMITS },
      act: (f) => f.checkWrite("a", 5),
      accesses: ["write /workspace/a: file_too_large"],
      code: "file_too_large",
    },
    {
      name: "is not recorded by checkWrite if it is allowed",
      setup: { limits: LIMITS },
      act: (f) => f.checkWrite("a", 4),
      accesses: [],
    },
    {
      name: "refuses new contents above the limit of a call",
      setup: { stagedBytes: 5 },
      act: async (f) => {
        await f.write("a", bytes("123"));
        await f.write("b", bytes("456"));
      },
      changes: { workspace: { a: "123" }, own: ["/workspace/a"] },
      accesses: ["write /workspace/a", "write /workspace/b: too_much_at_once"],
      code: "too_much_at_once",
    },
    {
      name: "counts equal contents of several files once",
      setup: { stagedBytes: 5 },
      act: async (f) => {
        await f.write("a", bytes("123"));
        await f.write("b", bytes("123"));
        f.copy("a", "c");
      },
      changes: {
        workspace: { a: "123", b: "123", c: "123" },
        own: ["/workspace/a", "/workspace/b", "/workspace/c"],
      },
      accesses: [
        "write /workspace/a",
        "write /workspace/b",
        "write /workspace/c",
        "read /workspace/a",
      ],
    },
    {
      name: "does not count contents that no file has",
      setup: { workspace: { base: "B" }, stagedBytes: 5 },
      act: async (f) => {
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
      accesses: [
        "write /workspace/a",
        "write /workspace/b",
        "delete /workspace/b",
        "write /workspace/base",
        "write /workspace/c",
      ],
    },
    {
      name: "refuses a file above the maximum number of files",
      setup: { workspace: { a: "1", b: "2" }, limits: LIMITS },
      act: (f) => f.write("c", bytes("3")),
      accesses: ["write /workspace/c: too_many_files"],
      code: "too_many_files",
    },
    {
      name: "refuses a file above the maximum size of the tree",
      setup: { workspace: { a: "1234" }, limits: LIMITS },
      act: (f) => f.write("b", bytes("123")),
      accesses: ["write /workspace/b: tree_too_large"],
      code: "tree_too_large",
    },
    {
      name: "may shrink a tree that is above the limit",
      setup: { workspace: { a: "1234", b: "1234", c: "12" }, limits: LIMITS },
      act: (f) => f.write("a", bytes("12")),
      changes: { workspace: { a: "12" }, own: ["/workspace/a"] },
      accesses: ["write /workspace/a"],
    },
  ]);

  it("copies the bytes, so that later changes of the array have no effect", async () => {
    const files = (await Rig.of({})).open();
    const mine = bytes("before");
    const writing = files.write("a", mine);
    mine.fill(0);
    await writing;
    expect(await files.read("a")).toEqual(bytes("before"));
    (await files.read("a")).fill(0);
    expect(await files.read("a")).toEqual(bytes("before"));
  });

  it("keeps binary contents", async () => {
    const files = (await Rig.of({})).open();
    const all = Uint8Array.from({ length: 256 }, (_, index) => index);
    await files.write("a.bin", all);
    expect(await files.read("a.bin")).toEqual(all);
    expect(files.staged().blobs.get(await hashOf(all))).toEqual(all);
  });

  it("is refused with the size of the file, the limit and advice", async () => {
    const files = (await Rig.of({ limits: LIMITS })).open();
    await expect(files.write("a", new Uint8Array(2_000))).rejects.toThrow(
      "/workspace/a would have 2,000 bytes; a file may have 4 bytes. Split it.",
    );
  });
});

describe("directories", () => {
  testRows([
    {
      name: "exist after they were created",
      act: (f) => {
        f.makeDirectory("a/b");
        expect(f.list("a")).toEqual([{ name: "b", kind: "directory", size: 0 }]);
      },
      changes: { directories: ["/workspace/a", "/workspace/a/b"] },
      accesses: ["write /workspace/a/b", "list /workspace/a"],
    },
    {
      name: "exist if an earlier call created them",
      setup: { directories: ["/workspace/old"] },
      act: (f) => expect(f.stat("old").kind).toBe("directory"),
      changes: { directories: ["/workspace/old"] },
      accesses: ["list /workspace"],
    },
    {
      name: "remain when their last file is removed",
      setup: { workspace: { "a/b": "B" }, own: ["/workspace/a/b"] },
      act: (f) => {
        f.remove("a/b");
        expect(f.exists("a")).toBe(true);
      },
      changes: { workspace: { "a/b": null }, directories: ["/workspace/a"] },
      accesses: ["delete /workspace/a/b", "list /workspace"],
    },
    {
      name: "may be created although they exist",
      setup: HOME,
      act: (f) => f.makeDirectory("src"),
      accesses: ["write /workspace/src"],
    },
    {
      name: "cannot replace a file",
      setup: HOME,
      act: (f) => f.makeDirectory("a.txt"),
      accesses: ["write /workspace/a.txt: not_a_directory"],
      code: "not_a_directory",
    },
    {
      name: "cannot be created inside a file",
      setup: HOME,
      act: (f) => f.makeDirectory("a.txt/x"),
      accesses: ["write /workspace/a.txt/x: not_a_directory"],
      code: "not_a_directory",
    },
    {
      name: "are limited in number",
      setup: { directories: ["/workspace/a"], limits: { fileBytes: 9, files: 1, treeBytes: 9 } },
      act: (f) => f.makeDirectory("b"),
      changes: { directories: ["/workspace/a"] },
      accesses: ["write /workspace/b: too_many_files"],
      code: "too_many_files",
    },
    {
      name: "count if they are the parents of a file",
      setup: { limits: { fileBytes: 9, files: 2, treeBytes: 9 } },
      act: (f) => f.write("a/b/c/x", bytes("1")),
      accesses: ["write /workspace/a/b/c/x: too_many_files"],
      code: "too_many_files",
    },
    {
      name: "count until they are removed, even without files",
      setup: { limits: { fileBytes: 9, files: 2, treeBytes: 9 } },
      act: async (f) => {
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
      accesses: [
        "write /workspace/a/b/x",
        "delete /workspace/a/b/x",
        "write /workspace/c/x: too_many_files",
        "delete /workspace/a/b",
        "write /workspace/c/x",
      ],
    },
    {
      name: "remain in mounts that the call does not use",
      setup: { directories: ["/workspace/old"] },
      act: (f) => f.list("/"),
      changes: { directories: ["/workspace/old"] },
      accesses: ["list /"],
    },
  ]);
});
