import { describe, expect, it } from "vitest";
import { agentFiles, fileTool, readAsText, runTool, type World } from "./agent-tree";
import { cpuMs } from "../../fakes/cpu-time";

const WORLD: World = {
  workspace: {
    "a.txt": "one\ntwo\none\n",
    "crlf.txt": "one\r\ntwo\r\n",
    "face.txt": "😀",
    "dir/b.txt": "b\n",
    "dir/deep/c.bin": new Uint8Array([0, 1, 2, 255]),
  },
  peers: { agent2: { "a.txt": "peer\n", "lib/d.ts": "d\n" } },
  contexts: { site: { "index.html": "<p>\n" }, book: { "ch1.md": "# One\n", locked: "no\n" } },
  writable: ["book"],
};
const call = async (name: string, args: object) => {
  const files = await agentFiles(WORLD);
  return { ...(await runTool(fileTool(name), args, files)), files };
};

describe("write_file", () => {
  it.each([
    {
      name: "makes a file",
      args: { path: "new/x.txt", content: "é\n" },
      says: "Wrote 3 bytes to /workspace/new/x.txt (a new file).",
    },
    {
      name: "replaces a file",
      args: { path: "a.txt", content: "" },
      says: "Wrote 0 bytes to /workspace/a.txt (before: 12 bytes).",
    },
    {
      name: "writes to a writable context",
      args: { path: "/contexts/book/ch2.md", content: "2" },
      says: "Wrote 1 bytes to /contexts/book/ch2.md",
    },
  ])("$name", async ({ args, says }) => {
    const { outcome, text, files } = await call("write_file", args);
    expect(text).toContain(says);
    expect(outcome).toBe("ok");
    expect(await readAsText(files, args.path)).toBe(args.content);
  });

  it.each([
    {
      name: "a peer's file",
      path: "/peers/agent2/a.txt",
      says: "another's snapshot and cannot be changed",
    },
    { name: "a read-only context", path: "/contexts/site/x", says: "for reading only" },
    { name: "a protected path", path: "/contexts/book/locked", says: "is protected" },
    { name: "a directory", path: "dir", says: "/workspace/dir is a directory" },
    { name: "a path outside of all places", path: "/etc/passwd", says: "outside of your files" },
    { name: "a path through a file", path: "a.txt/b", says: "a.txt" },
  ])("does not write $name", async ({ path, says }) => {
    const { outcome, text, files } = await call("write_file", { path, content: "x" });
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(text).toContain(says);
  });
});

describe("edit_file", () => {
  it.each([
    {
      name: "replaces a text",
      args: { path: "a.txt", old_string: "two", new_string: "2" },
      after: "one\n2\none\n",
      says: "once in /workspace/a.txt, at line 2.",
    },
    {
      name: "deletes a text",
      args: { path: "a.txt", old_string: "two\n", new_string: "" },
      after: "one\none\n",
      says: "at line 2",
    },
    {
      name: "replaces all",
      args: { path: "a.txt", old_string: "one", new_string: "1", replace_all: true },
      after: "1\ntwo\n1\n",
      says: "2 times in /workspace/a.txt, at lines 1, 3.",
    },
    {
      name: "replaces the expected number of matches",
      args: { path: "a.txt", old_string: "one", new_string: "1", expected_count: 2 },
      after: "1\ntwo\n1\n",
      says: "2 times",
    },
    {
      name: "treats the new text literally",
      args: { path: "a.txt", old_string: "two", new_string: "$& $1 \\n" },
      after: "one\n$& $1 \\n\none\n",
      says: "once",
    },
    {
      name: "replaces lone surrogates in the new text",
      args: { path: "a.txt", old_string: "one", new_string: "\ude00-\ud83d", replace_all: true },
      after: "\ufffd-\ufffd\ntwo\n\ufffd-\ufffd\n",
      says: "2 times",
    },
    {
      name: "keeps Windows line ends",
      args: { path: "crlf.txt", old_string: "one\ntwo", new_string: "1\n2\n3" },
      after: "1\r\n2\r\n3\r\n",
      says: "once",
    },
  ])("$name", async ({ args, after, says }) => {
    const { text, files } = await call("edit_file", args);
    expect(text).toContain(says);
    expect(await readAsText(files, args.path)).toBe(after);
  });

  it.each([
    {
      name: "a missing text",
      args: { path: "a.txt", old_string: "Two", new_string: "2" },
      says: "does not occur in /workspace/a.txt",
    },
    {
      name: "a text with more matches than expected",
      args: { path: "a.txt", old_string: "one", new_string: "1" },
      says: "occurs 2 times in /workspace/a.txt, at lines 1, 3, not once",
    },
    {
      name: "a text with fewer matches than expected",
      args: { path: "a.txt", old_string: "two", new_string: "2", expected_count: 3 },
      says: "not 3 times",
    },
    {
      name: "half of a character",
      args: { path: "face.txt", old_string: "\ud83d", new_string: "", replace_all: true },
      says: "does not occur in /workspace/face.txt",
    },
    {
      name: "the same text",
      args: { path: "a.txt", old_string: "two", new_string: "two" },
      says: "are the same",
    },
    {
      name: "an empty text",
      args: { path: "a.txt", old_string: "", new_string: "two" },
      says: "old_string",
    },
    {
      name: "a binary file",
      args: { path: "dir/deep/c.bin", old_string: "a", new_string: "b" },
      says: "not a text file",
    },
    {
      name: "a peer's file",
      args: { path: "/peers/agent2/a.txt", old_string: "peer", new_string: "b" },
      says: "cannot be changed",
    },
  ])("does not replace $name, and changes nothing", async ({ args, says }) => {
    const { outcome, text, files } = await call("edit_file", args);
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(text).toContain(says);
  });

  const A_MEGABYTE = 1_000_000;
  const large: World = {
    workspace: {
      "as.txt": "a".repeat(20_000),
      "table.csv": "1,22,3\n".repeat(A_MEGABYTE / 7),
      "commas.txt": ",".repeat(7 * A_MEGABYTE),
    },
  };

  it.each([
    {
      name: "a text beyond the memory",
      args: { path: "as.txt", old_string: "a", new_string: "b".repeat(30_000), replace_all: true },
      says: "/workspace/as.txt would have 600,000,000 bytes; a file may have 8,000,000 bytes.",
    },
    {
      name: "a text beyond the memory, with the expected number of matches",
      args: {
        path: "as.txt",
        old_string: "a",
        new_string: "漢".repeat(10_000),
        expected_count: 20_000,
      },
      says: "/workspace/as.txt would have 600,000,000 bytes; a file may have 8,000,000 bytes.",
    },
  ])("refuses to make $name, with a reason", async ({ args, says }) => {
    const files = await agentFiles(large);
    const { outcome, text } = await runTool(fileTool("edit_file"), args, files);
    expect(text).toContain(says);
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(files.accessed).toContainEqual({
      operation: "write",
      path: "/workspace/as.txt",
      refused: "file_too_large",
    });
  });

  it.each([
    {
      name: "hundreds of thousands of places",
      args: { path: "table.csv", old_string: ",", new_string: ";" },
      after: "1;22;3\n".repeat(A_MEGABYTE / 7),
      says: "285714 times in /workspace/table.csv, at lines 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10 ….",
    },
    {
      name: "every character of a large file",
      args: { path: "commas.txt", old_string: ",", new_string: "" },
      after: "",
      says: "7000000 times",
    },
  ])("replaces in $name without a long pause", async ({ args, after, says }) => {
    const files = await agentFiles(large);
    const began = cpuMs();
    const { text } = await runTool(fileTool("edit_file"), { ...args, replace_all: true }, files);
    expect(cpuMs() - began).toBeLessThan(3_000);
    expect(text).toContain(says);
    expect((await readAsText(files, args.path)) === after).toBe(true);
  });

  it("keeps a file executable", async () => {
    const files = await agentFiles({});
    await files.write("s.sh", new TextEncoder().encode("echo one\n"), true);
    await runTool(
      fileTool("edit_file"),
      { path: "s.sh", old_string: "one", new_string: "two" },
      files,
    );
    expect(files.stat("s.sh")).toMatchObject({ executable: true, size: 9 });
  });
});

describe("copy_file, move_file and delete_file", () => {
  it.each([
    {
      name: "copies a peer's directory",
      tool: "copy_file",
      args: { source: "/peers/agent2/lib", destination: "lib" },
      there: ["lib/d.ts"],
      gone: [],
    },
    {
      name: "copies a binary file",
      tool: "copy_file",
      args: { source: "dir/deep/c.bin", destination: "c.bin" },
      there: ["c.bin", "dir/deep/c.bin"],
      gone: [],
    },
    {
      name: "renames",
      tool: "move_file",
      args: { source: "a.txt", destination: "dir/z.txt" },
      there: ["dir/z.txt"],
      gone: ["a.txt"],
    },
    {
      name: "moves a directory",
      tool: "move_file",
      args: { source: "dir", destination: "new/place" },
      there: ["new/place/b.txt", "new/place/deep/c.bin"],
      gone: ["dir"],
    },
    {
      name: "replaces a file on request",
      tool: "copy_file",
      args: { source: "/peers/agent2/a.txt", destination: "a.txt", overwrite: true },
      there: ["a.txt"],
      gone: [],
    },
  ])("$name", async ({ tool, args, there, gone }) => {
    const { outcome, files } = await call(tool, args);
    expect(outcome).toBe("ok");
    expect([
      ...there.map((path) => files.exists(path)),
      ...gone.map((path) => !files.exists(path)),
    ]).not.toContain(false);
  });

  it.each([
    {
      name: "a copy over a file",
      tool: "copy_file",
      args: { source: "dir/b.txt", destination: "a.txt" },
      says: "already there",
    },
    {
      name: "a copy over a directory",
      tool: "copy_file",
      args: { source: "a.txt", destination: "dir", overwrite: true },
      says: "/workspace/dir is a directory that is already there",
    },
    {
      name: "a move out of a peer's files",
      tool: "move_file",
      args: { source: "/peers/agent2/a.txt", destination: "b.txt" },
      says: "cannot be changed",
    },
    {
      name: "a copy of a missing file",
      tool: "copy_file",
      args: { source: "nope", destination: "b" },
      says: "does not exist",
    },
    {
      name: "a deletion of an unread file",
      tool: "delete_file",
      args: { path: "a.txt" },
      says: "Read it before you delete it",
    },
    {
      name: "a deletion of everything",
      tool: "delete_file",
      args: { path: "/workspace" },
      says: "stays",
    },
  ])("refuses $name", async ({ tool, args, says }) => {
    const { outcome, text, files } = await call(tool, args);
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(text).toContain(says);
  });

  it("deletes a file that was read", async () => {
    const files = await agentFiles(WORLD);
    await files.read("a.txt");
    expect(await runTool(fileTool("delete_file"), { path: "a.txt" }, files)).toEqual({
      outcome: "ok",
      text: "Deleted /workspace/a.txt.",
    });
    expect(files.exists("a.txt")).toBe(false);
  });
});
