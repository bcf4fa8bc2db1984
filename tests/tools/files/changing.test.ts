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
const callTool = async (name: string, args: object) => {
  const files = await agentFiles(WORLD);
  return { ...(await runTool(fileTool(name), args, files)), files };
};

describe("write_file", () => {
  it.each([
    {
      name: "creates a file",
      args: { path: "new/x.txt", content: "é\n" },
      expectedText: "Wrote 3 bytes to /workspace/new/x.txt (a new file).",
    },
    {
      name: "replaces a file",
      args: { path: "a.txt", content: "" },
      expectedText: "Wrote 0 bytes to /workspace/a.txt (before: 12 bytes).",
    },
    {
      name: "writes to a writable context",
      args: { path: "/contexts/book/ch2.md", content: "2" },
      expectedText: "Wrote 1 bytes to /contexts/book/ch2.md",
    },
  ])("$name", async ({ args, expectedText }) => {
    const { outcome, text, files } = await callTool("write_file", args);
    expect(text).toContain(expectedText);
    expect(outcome).toBe("ok");
    expect(await readAsText(files, args.path)).toBe(args.content);
  });

  it.each([
    {
      name: "a peer's file",
      path: "/peers/agent2/a.txt",
      expectedText: "another's snapshot and cannot be changed",
    },
    { name: "a read-only context", path: "/contexts/site/x", expectedText: "for reading only" },
    { name: "a protected path", path: "/contexts/book/locked", expectedText: "is protected" },
    { name: "a directory", path: "dir", expectedText: "/workspace/dir is a directory" },
    {
      name: "a path outside of the agent's directories",
      path: "/etc/passwd",
      expectedText: "outside of your files",
    },
    { name: "a path through a file", path: "a.txt/b", expectedText: "a.txt" },
  ])("does not write $name", async ({ path, expectedText }) => {
    const { outcome, text, files } = await callTool("write_file", { path, content: "x" });
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(text).toContain(expectedText);
  });
});

describe("edit_file", () => {
  it.each([
    {
      name: "replaces a text",
      args: { path: "a.txt", old_string: "two", new_string: "2" },
      newText: "one\n2\none\n",
      expectedText: "once in /workspace/a.txt, at line 2.",
    },
    {
      name: "deletes a text",
      args: { path: "a.txt", old_string: "two\n", new_string: "" },
      newText: "one\none\n",
      expectedText: "at line 2",
    },
    {
      name: "replaces all matches with replace_all",
      args: { path: "a.txt", old_string: "one", new_string: "1", replace_all: true },
      newText: "1\ntwo\n1\n",
      expectedText: "2 times in /workspace/a.txt, at lines 1, 3.",
    },
    {
      name: "replaces the expected number of matches",
      args: { path: "a.txt", old_string: "one", new_string: "1", expected_count: 2 },
      newText: "1\ntwo\n1\n",
      expectedText: "2 times",
    },
    {
      name: "treats the new text literally",
      args: { path: "a.txt", old_string: "two", new_string: "$& $1 \\n" },
      newText: "one\n$& $1 \\n\none\n",
      expectedText: "once",
    },
    {
      name: "replaces lone surrogates in the new text",
      args: { path: "a.txt", old_string: "one", new_string: "\ude00-\ud83d", replace_all: true },
      newText: "\ufffd-\ufffd\ntwo\n\ufffd-\ufffd\n",
      expectedText: "2 times",
    },
    {
      name: "uses CRLF in a file with CRLF line ends",
      args: { path: "crlf.txt", old_string: "one\ntwo", new_string: "1\n2\n3" },
      newText: "1\r\n2\r\n3\r\n",
      expectedText: "once",
    },
  ])("$name", async ({ args, newText, expectedText }) => {
    const { text, files } = await callTool("edit_file", args);
    expect(text).toContain(expectedText);
    expect(await readAsText(files, args.path)).toBe(newText);
  });

  it.each([
    {
      name: "a missing text",
      args: { path: "a.txt", old_string: "Two", new_string: "2" },
      expectedText: "does not occur in /workspace/a.txt",
    },
    {
      name: "a text with more matches than expected",
      args: { path: "a.txt", old_string: "one", new_string: "1" },
      expectedText: "occurs 2 times in /workspace/a.txt, at lines 1, 3, not once",
    },
    {
      name: "a text with fewer matches than expected",
      args: { path: "a.txt", old_string: "two", new_string: "2", expected_count: 3 },
      expectedText: "not 3 times",
    },
    {
      name: "half of a surrogate pair",
      args: { path: "face.txt", old_string: "\ud83d", new_string: "", replace_all: true },
      expectedText: "does not occur in /workspace/face.txt",
    },
    {
      name: "a text by the same text",
      args: { path: "a.txt", old_string: "two", new_string: "two" },
      expectedText: "are the same",
    },
    {
      name: "an empty text",
      args: { path: "a.txt", old_string: "", new_string: "two" },
      expectedText: "old_string",
    },
    {
      name: "a binary file",
      args: { path: "dir/deep/c.bin", old_string: "a", new_string: "b" },
      expectedText: "not a text file",
    },
    {
      name: "a peer's file",
      args: { path: "/peers/agent2/a.txt", old_string: "peer", new_string: "b" },
      expectedText: "cannot be changed",
    },
  ])("does not replace $name, and changes nothing", async ({ args, expectedText }) => {
    const { outcome, text, files } = await callTool("edit_file", args);
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(text).toContain(expectedText);
  });

  const MEGABYTE = 1_000_000;
  const LARGE_WORLD: World = {
    workspace: {
      "as.txt": "a".repeat(20_000),
      "table.csv": "1,22,3\n".repeat(MEGABYTE / 7),
      "commas.txt": ",".repeat(7 * MEGABYTE),
    },
  };

  it.each([
    {
      name: "a text that does not fit into memory",
      args: { path: "as.txt", old_string: "a", new_string: "b".repeat(30_000), replace_all: true },
      expectedText:
        "/workspace/as.txt would have 600,000,000 bytes; a file may have 8,000,000 bytes.",
    },
    {
      name: "a text that does not fit into memory, with expected_count",
      args: {
        path: "as.txt",
        old_string: "a",
        new_string: "漢".repeat(10_000),
        expected_count: 20_000,
      },
      expectedText:
        "/workspace/as.txt would have 600,000,000 bytes; a file may have 8,000,000 bytes.",
    },
  ])("refuses to create $name, with a reason", async ({ args, expectedText }) => {
    const files = await agentFiles(LARGE_WORLD);
    const { outcome, text } = await runTool(fileTool("edit_file"), args, files);
    expect(text).toContain(expectedText);
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
      name: "a file with hundreds of thousands of matches",
      args: { path: "table.csv", old_string: ",", new_string: ";" },
      newText: "1;22;3\n".repeat(MEGABYTE / 7),
      expectedText:
        "285714 times in /workspace/table.csv, at lines 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10 ….",
    },
    {
      name: "a large file in which each character matches",
      args: { path: "commas.txt", old_string: ",", new_string: "" },
      newText: "",
      expectedText: "7000000 times",
    },
  ])("replaces texts in $name in a short time", async ({ args, newText, expectedText }) => {
    const files = await agentFiles(LARGE_WORLD);
    const startedAt = cpuMs();
    const { text } = await runTool(fileTool("edit_file"), { ...args, replace_all: true }, files);
    expect(cpuMs() - startedAt).toBeLessThan(3_000);
    expect(text).toContain(expectedText);
    expect((await readAsText(files, args.path)) === newText).toBe(true);
  });

  it("does not change the executable bit of a file", async () => {
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
      present: ["lib/d.ts"],
      absent: [],
    },
    {
      name: "copies a binary file",
      tool: "copy_file",
      args: { source: "dir/deep/c.bin", destination: "c.bin" },
      present: ["c.bin", "dir/deep/c.bin"],
      absent: [],
    },
    {
      name: "renames a file",
      tool: "move_file",
      args: { source: "a.txt", destination: "dir/z.txt" },
      present: ["dir/z.txt"],
      absent: ["a.txt"],
    },
    {
      name: "moves a directory",
      tool: "move_file",
      args: { source: "dir", destination: "new/place" },
      present: ["new/place/b.txt", "new/place/deep/c.bin"],
      absent: ["dir"],
    },
    {
      name: "replaces a file with overwrite",
      tool: "copy_file",
      args: { source: "/peers/agent2/a.txt", destination: "a.txt", overwrite: true },
      present: ["a.txt"],
      absent: [],
    },
  ])("$name", async ({ tool, args, present, absent }) => {
    const { outcome, files } = await callTool(tool, args);
    expect(outcome).toBe("ok");
    expect([
      ...present.map((path) => files.exists(path)),
      ...absent.map((path) => !files.exists(path)),
    ]).not.toContain(false);
  });

  it.each([
    {
      name: "a copy over a file",
      tool: "copy_file",
      args: { source: "dir/b.txt", destination: "a.txt" },
      expectedText: "already there",
    },
    {
      name: "a copy over a directory",
      tool: "copy_file",
      args: { source: "a.txt", destination: "dir", overwrite: true },
      expectedText: "/workspace/dir is a directory that is already there",
    },
    {
      name: "a move out of a peer's files",
      tool: "move_file",
      args: { source: "/peers/agent2/a.txt", destination: "b.txt" },
      expectedText: "cannot be changed",
    },
    {
      name: "a copy of a missing file",
      tool: "copy_file",
      args: { source: "nope", destination: "b" },
      expectedText: "does not exist",
    },
    {
      name: "a deletion of an unread file",
      tool: "delete_file",
      args: { path: "a.txt" },
      expectedText: "Read it before you delete it",
    },
    {
      name: "a deletion of the whole workspace",
      tool: "delete_file",
      args: { path: "/workspace" },
      expectedText: "stays",
    },
  ])("refuses $name", async ({ tool, args, expectedText }) => {
    const { outcome, text, files } = await callTool(tool, args);
    expect({ outcome, changed: files.staged().workspace.size }).toEqual({
      outcome: "error",
      changed: 0,
    });
    expect(text).toContain(expectedText);
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
