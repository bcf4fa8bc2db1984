import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/workspace/snapshot";
import { type Setup, Rig } from "./rig";
import { bytes, HOME, table } from "./staged-files-table";

describe("reading", () => {
  table([
    {
      name: "returns the bytes and marks the file as read",
      given: HOME,
      does: async (f) => expect(await f.read("a.txt")).toEqual(bytes("A")),
      changes: { read: ["/workspace/a.txt"] },
      lines: ["read /workspace/a.txt"],
    },
    {
      name: "returns the contents that the call itself wrote",
      does: async (f) => {
        await f.write("x", bytes("X"));
        expect(await f.read("x")).toEqual(bytes("X"));
      },
      changes: { workspace: { x: "X" }, read: ["/workspace/x"], own: ["/workspace/x"] },
      lines: ["write /workspace/x", "read /workspace/x"],
    },
    {
      name: "returns a peer's files",
      given: { peers: { agent1: { "p.txt": "P" } } },
      does: async (f) => expect(await f.read("peers/agent1/p.txt")).toEqual(bytes("P")),
      changes: { read: ["/peers/agent1/p.txt"] },
      lines: ["read /peers/agent1/p.txt"],
    },
    {
      name: "returns an empty file without requesting its bytes",
      given: { workspace: { empty: "" } },
      does: async (f) => expect(await f.read("empty")).toEqual(new Uint8Array()),
      changes: { read: ["/workspace/empty"] },
      lines: ["read /workspace/empty"],
    },
    {
      name: "fails for a missing file",
      given: HOME,
      does: (f) => f.read("b.txt"),
      lines: ["read /workspace/b.txt: not_found"],
      fails: "not_found",
    },
    {
      name: "fails for a directory",
      given: HOME,
      does: (f) => f.read("src"),
      lines: ["read /workspace/src: is_directory"],
      fails: "is_directory",
    },
    {
      name: "fails for a peer that was not shown",
      does: (f) => f.read("/peers/agent2/x"),
      lines: ["read /peers/agent2/x: unknown_place"],
      fails: "unknown_place",
    },
    {
      name: "fails for another's workspace",
      does: (f) => f.read("/workspace/../../agent2/x"),
      lines: ["read /workspace/../../agent2/x: path_outside"],
      fails: "path_outside",
    },
    {
      name: "fails for the orchestrator's state",
      does: (f) => f.read("/var/state.db"),
      lines: ["read /var/state.db: path_outside"],
      fails: "path_outside",
    },
    {
      name: "fails for a name with a NUL, which the audit trail shows",
      does: (f) => f.read("a\0b"),
      lines: ["read a\\u{0}b: path_invalid"],
      fails: "path_invalid",
    },
  ]);
});

describe("looking", () => {
  const NESTED: Setup = {
    workspace: { "b.txt": "B", "a/x": "X", "a.b": "Y", "a-b": "Z" },
    peers: { agent10: { p: "P" }, agent1: { q: "Q" } },
    contexts: { site: { files: { i: "I" } } },
  };
  table([
    {
      name: "lists a directory by name",
      given: NESTED,
      does: (f) =>
        expect(f.list("")).toEqual([
          { name: "a", kind: "directory", size: 0 },
          { name: "a-b", kind: "file", size: 1 },
          { name: "a.b", kind: "file", size: 1 },
          { name: "b.txt", kind: "file", size: 1 },
        ]),
      lines: ["list /workspace"],
    },
    {
      name: "lists all visible directories",
      given: NESTED,
      does: (f) =>
        expect(f.list("/").map(({ name }) => name)).toEqual(["contexts", "peers", "workspace"]),
      lines: ["list /"],
    },
    {
      name: "lists peers by their aliases",
      given: NESTED,
      does: (f) => expect(f.list("peers").map(({ name }) => name)).toEqual(["agent1", "agent10"]),
      lines: ["list /peers"],
    },
    {
      name: "does not list a file",
      given: HOME,
      does: (f) => f.list("a.txt"),
      lines: ["list /workspace/a.txt: not_a_directory"],
      fails: "not_a_directory",
    },
    {
      name: "walks in the order of paths",
      given: NESTED,
      does: (f) =>
        expect(f.walk("", 10)).toEqual({
          paths: ["/workspace/a-b", "/workspace/a.b", "/workspace/a/x", "/workspace/b.txt"],
          more: false,
        }),
      lines: ["list /workspace"],
    },
    {
      name: "walks only to the requested depth",
      given: NESTED,
      does: (f) =>
        expect(f.walk("", 2)).toEqual({ paths: ["/workspace/a-b", "/workspace/a.b"], more: true }),
      lines: ["list /workspace"],
    },
    {
      name: "walks everything",
      given: NESTED,
      does: (f) =>
        expect(f.walk("/", 4)).toEqual({
          paths: ["/contexts/site/i", "/peers/agent1/q", "/peers/agent10/p", "/workspace/a-b"],
          more: true,
        }),
      lines: ["list /"],
    },
    {
      name: "walks a file, which is itself",
      given: HOME,
      does: (f) => expect(f.walk("a.txt", 9)).toEqual({ paths: ["/workspace/a.txt"], more: false }),
      lines: ["list /workspace/a.txt"],
    },
    {
      name: "describes a file",
      given: HOME,
      does: async (f) =>
        expect(f.stat("src/b.txt")).toEqual({
          kind: "file",
          size: 1,
          executable: false,
          hash: await hashOf(bytes("B")),
        }),
      lines: ["list /workspace/src"],
    },
    {
      name: "describes a directory",
      given: HOME,
      does: (f) =>
        expect(f.stat("src/lib")).toEqual({
          kind: "directory",
          size: 0,
          executable: false,
          hash: null,
        }),
      lines: ["list /workspace/src"],
    },
    {
      name: "fails for a missing path",
      given: HOME,
      does: (f) => f.stat("x/y"),
      lines: ["list /workspace/x/y: not_found"],
      fails: "not_found",
    },
    {
      name: "reports whether a path exists",
      given: HOME,
      does: (f) =>
        expect([
          f.exists("src"),
          f.exists("nope"),
          f.exists("/etc/passwd"),
          f.exists("/peers/agent9"),
        ]).toEqual([true, false, false, false]),
      lines: [
        "list /workspace",
        "list /etc/passwd: path_outside",
        "list /peers/agent9: unknown_place",
      ],
    },
    {
      name: "repeated is one line",
      given: HOME,
      does: (f) => Array.from({ length: 50 }, () => f.list("src")),
      lines: ["list /workspace/src"],
    },
  ]);
});

describe("a path", () => {
  it("is described in the agent's terms, without a change", async () => {
    const files = (await Rig.of({})).open();
    expect([files.resolve("a/./b"), files.resolve("peers/agent1")]).toEqual([
      "/workspace/a/b",
      "/peers/agent1",
    ]);
    expect(files.accessed).toEqual([]);
  });
});
