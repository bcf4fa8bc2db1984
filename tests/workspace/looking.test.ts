import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/workspace/snapshot";
import { type Setup, Rig } from "./rig";
import { bytes, HOME, testRows } from "./staged-files-table";

describe("reading", () => {
  testRows([
    {
      name: "returns the bytes and marks the file as read",
      setup: HOME,
      act: async (f) => expect(await f.read("a.txt")).toEqual(bytes("A")),
      changes: { read: ["/workspace/a.txt"] },
      accesses: ["read /workspace/a.txt"],
    },
    {
      name: "returns the contents that the call itself wrote",
      act: async (f) => {
        await f.write("x", bytes("X"));
        expect(await f.read("x")).toEqual(bytes("X"));
      },
      changes: { workspace: { x: "X" }, read: ["/workspace/x"], own: ["/workspace/x"] },
      accesses: ["write /workspace/x", "read /workspace/x"],
    },
    {
      name: "returns a peer's files",
      setup: { peers: { agent1: { "p.txt": "P" } } },
      act: async (f) => expect(await f.read("peers/agent1/p.txt")).toEqual(bytes("P")),
      changes: { read: ["/peers/agent1/p.txt"] },
      accesses: ["read /peers/agent1/p.txt"],
    },
    {
      name: "returns an empty file without requesting its bytes",
      setup: { workspace: { empty: "" } },
      act: async (f) => expect(await f.read("empty")).toEqual(new Uint8Array()),
      changes: { read: ["/workspace/empty"] },
      accesses: ["read /workspace/empty"],
    },
    {
      name: "fails for a missing file",
      setup: HOME,
      act: (f) => f.read("b.txt"),
      accesses: ["read /workspace/b.txt: not_found"],
      code: "not_found",
    },
    {
      name: "fails for a directory",
      setup: HOME,
      act: (f) => f.read("src"),
      accesses: ["read /workspace/src: is_directory"],
      code: "is_directory",
    },
    {
      name: "fails for a peer that was not shown",
      act: (f) => f.read("/peers/agent2/x"),
      accesses: ["read /peers/agent2/x: unknown_place"],
      code: "unknown_place",
    },
    {
      name: "fails for the workspace of another agent",
      act: (f) => f.read("/workspace/../../agent2/x"),
      accesses: ["read /workspace/../../agent2/x: path_outside"],
      code: "path_outside",
    },
    {
      name: "fails for the orchestrator's state",
      act: (f) => f.read("/var/state.db"),
      accesses: ["read /var/state.db: path_outside"],
      code: "path_outside",
    },
    {
      name: "fails for a name with a NUL, which the audit trail escapes",
      act: (f) => f.read("a\0b"),
      accesses: ["read a\\u{0}b: path_invalid"],
      code: "path_invalid",
    },
  ]);
});

describe("listing and describing", () => {
  const NESTED: Setup = {
    workspace: { "b.txt": "B", "a/x": "X", "a.b": "Y", "a-b": "Z" },
    peers: { agent10: { p: "P" }, agent1: { q: "Q" } },
    contexts: { site: { files: { i: "I" } } },
  };
  testRows([
    {
      name: "lists a directory, sorted by name",
      setup: NESTED,
      act: (f) =>
        expect(f.list("")).toEqual([
          { name: "a", kind: "directory", size: 0 },
          { name: "a-b", kind: "file", size: 1 },
          { name: "a.b", kind: "file", size: 1 },
          { name: "b.txt", kind: "file", size: 1 },
        ]),
      accesses: ["list /workspace"],
    },
    {
      name: "lists all visible directories",
      setup: NESTED,
      act: (f) =>
        expect(f.list("/").map(({ name }) => name)).toEqual(["contexts", "peers", "workspace"]),
      accesses: ["list /"],
    },
    {
      name: "lists peers by their aliases",
      setup: NESTED,
      act: (f) => expect(f.list("peers").map(({ name }) => name)).toEqual(["agent1", "agent10"]),
      accesses: ["list /peers"],
    },
    {
      name: "fails for a file",
      setup: HOME,
      act: (f) => f.list("a.txt"),
      accesses: ["list /workspace/a.txt: not_a_directory"],
      code: "not_a_directory",
    },
    {
      name: "walks files, sorted by path",
      setup: NESTED,
      act: async (f) =>
        expect(await f.walk("", 10)).toEqual({
          paths: ["/workspace/a-b", "/workspace/a.b", "/workspace/a/x", "/workspace/b.txt"],
          more: false,
        }),
      accesses: ["list /workspace"],
    },
    {
      name: "walks at most the requested number of files",
      setup: NESTED,
      act: async (f) =>
        expect(await f.walk("", 2)).toEqual({
          paths: ["/workspace/a-b", "/workspace/a.b"],
          more: true,
        }),
      accesses: ["list /workspace"],
    },
    {
      name: "walks all visible files",
      setup: NESTED,
      act: async (f) =>
        expect(await f.walk("/", 4)).toEqual({
          paths: ["/contexts/site/i", "/peers/agent1/q", "/peers/agent10/p", "/workspace/a-b"],
          more: true,
        }),
      accesses: ["list /"],
    },
    {
      name: "walks a file and returns the file itself",
      setup: HOME,
      act: async (f) =>
        expect(await f.walk("a.txt", 9)).toEqual({ paths: ["/workspace/a.txt"], more: false }),
      accesses: ["list /workspace/a.txt"],
    },
    {
      name: "describes a file",
      setup: HOME,
      act: async (f) =>
        expect(f.stat("src/b.txt")).toEqual({
          kind: "file",
          size: 1,
          executable: false,
          hash: await hashOf(bytes("B")),
        }),
      accesses: ["list /workspace/src"],
    },
    {
      name: "describes a directory",
      setup: HOME,
      act: (f) =>
        expect(f.stat("src/lib")).toEqual({
          kind: "directory",
          size: 0,
          executable: false,
          hash: null,
        }),
      accesses: ["list /workspace/src"],
    },
    {
      name: "fails for a missing path",
      setup: HOME,
      act: (f) => f.stat("x/y"),
      accesses: ["list /workspace/x/y: not_found"],
      code: "not_found",
    },
    {
      name: "reports whether a path exists",
      setup: HOME,
      act: (f) =>
        expect([
          f.exists("src"),
          f.exists("nope"),
          f.exists("/etc/passwd"),
          f.exists("/peers/agent9"),
        ]).toEqual([true, false, false, false]),
      accesses: [
        "list /workspace",
        "list /etc/passwd: path_outside",
        "list /peers/agent9: unknown_place",
      ],
    },
    {
      name: "records repeated listings once",
      setup: HOME,
      act: (f) => Array.from({ length: 50 }, () => f.list("src")),
      accesses: ["list /workspace/src"],
    },
  ]);
});

describe("a path", () => {
  it("is resolved to its absolute form, without a record", async () => {
    const files = (await Rig.of({})).open();
    expect([files.resolve("a/./b"), files.resolve("peers/agent1")]).toEqual([
      "/workspace/a/b",
      "/peers/agent1",
    ]);
    expect(files.accessed).toEqual([]);
  });
});
