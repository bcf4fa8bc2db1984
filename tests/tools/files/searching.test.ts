import { describe, expect, it } from "vitest";
import { FILE_TOOL_LIMITS, fileTools } from "../../../src/tools/files";
import { WorkBudget } from "../../../src/patterns";
import { matchingPaths } from "../../../src/tools/files/glob";
import { agentFiles, runTool, type World } from "./agent-tree";

const WORLD: World = {
  workspace: {
    "README.md": "# Title\n\nSee a.py.\n",
    "src/a.py": "def one():\n    return 1\n\ndef two():\n    return 2\n",
    "src/deep/b.py": "import a\nprint(a.one())\n",
    "src/deep/b.test.py": "assert True\n",
    "logo.png": new Uint8Array([0, 1, 2]),
    "long.txt": `${"x".repeat(1_000)}needle\n`,
    "win.txt": "one\r\ntwo\r\n",
    "escape.txt": "\u001b[31mneedle\n",
  },
  peers: {
    agent2: {
      "src/a.py": "def one():\n    return 1\n\ndef two():\n    return 22\n",
      "new.txt": "n\n",
    },
  },
};
const call = async (name: string, args: object, limits = {}, world = WORLD) => {
  const files = await agentFiles(world);
  const tool = fileTools({ ...FILE_TOOL_LIMITS, ...limits }).find(({ spec }) => spec.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return { ...(await runTool(tool, args, files)), files };
};

describe("list_directory", () => {
  it.each([
    {
      name: "lists the workspace",
      args: {},
      text: "README.md  19\nescape.txt  12\nlogo.png  3\nlong.txt  1007\nsrc/\nwin.txt  10",
    },
    {
      name: "lists all top-level directories",
      args: { path: "/" },
      text: "contexts/\npeers/\nworkspace/",
    },
    {
      name: "lists everything below a directory",
      args: { path: "src", recursive: true },
      text: "a.py  49\ndeep/b.py  24\ndeep/b.test.py  12",
    },
    {
      name: "lists a peer's files",
      args: { path: "/peers/agent2", recursive: true },
      text: "new.txt  2\nsrc/a.py  50",
    },
    {
      name: "reports an empty directory",
      args: { path: "/contexts" },
      text: "[/contexts is empty.]",
    },
  ])("$name", async ({ args, text }) => {
    expect(await call("list_directory", args)).toMatchObject({ outcome: "ok", text });
  });

  it("reports that there are more entries", async () => {
    const { text } = await call("list_directory", {}, { entries: 2 });
    expect(text).toBe(
      "README.md  19\nescape.txt  12\n[There is more. List a directory further down, or use search_files.]",
    );
    expect((await call("list_directory", { recursive: true }, { entries: 2 })).text).toContain(
      "[There is more.",
    );
  });

  it("refuses a file", async () => {
    expect(await call("list_directory", { path: "README.md" })).toMatchObject({ outcome: "error" });
  });
});

describe("search_files", () => {
  it.each([
    {
      name: "finds files by the end of their names, in all directories",
      args: { pattern: "*.py" },
      found: ["src/a.py", "src/deep/b.py", "src/deep/b.test.py"],
    },
    {
      name: "finds files by their paths",
      args: { pattern: "src/**/*.test.py" },
      found: ["src/deep/b.test.py"],
    },
    {
      name: "finds files below a directory",
      args: { pattern: "*.py", path: "src/deep" },
      found: ["src/deep/b.py", "src/deep/b.test.py"],
    },
    {
      name: "finds files by alternatives in braces",
      args: { pattern: "{README,logo}.*" },
      found: ["README.md", "logo.png"],
    },
  ])("$name", async ({ args, found }) => {
    expect((await call("search_files", args)).text).toBe(
      found.map((path) => `/workspace/${path}`).join("\n"),
    );
  });

  it("and grep match paths in all top-level directories if the root is searched", async () => {
    const found = await call("search_files", { pattern: "peers/**/*.py", path: "/" });
    expect(found.text).toBe("/peers/agent2/src/a.py");
    const lines = await call("grep", { pattern: "22", path: "/", glob: "peers/**" });
    expect(lines.text).toContain("/peers/agent2/src/a.py:5:");
  });

  it("reports no matches, more matches, and an incomplete search", async () => {
    expect((await call("search_files", { pattern: "*.rs" })).text).toBe(
      "No file in /workspace matches *.rs.",
    );
    expect((await call("search_files", { pattern: "*" }, { entries: 2 })).text).toContain(
      "[6 more match.",
    );
    expect((await call("search_files", { pattern: "*" }, { searchedFiles: 2 })).text).toContain(
      "\n[Only the first 2 files were looked at; narrow the path.]",
    );
  });
});

describe("a pattern of paths", () => {
  it.each([
    { pattern: "*.ts", matching: ["a.ts", "x/y/a.ts", ".ts"], others: ["a.tsx", "a.ts/b"] },
    { pattern: "src/*.ts", matching: ["src/a.ts"], others: ["src/x/a.ts", "a.ts", "x/src/a.ts"] },
    { pattern: "src/**", matching: ["src/a", "src/x/y"], others: ["src", "a/src/x"] },
    { pattern: "**/x/*", matching: ["x/a", "y/x/a"], others: ["x", "xx/a"] },
    { pattern: "./a?c", matching: ["abc"], others: ["ac", "abbc"] },
    { pattern: "[a-c]1", matching: ["a1", "c1"], others: ["d1"] },
    { pattern: "[!a-c]1", matching: ["d1"], others: ["a1"] },
    { pattern: "a.{js,ts}", matching: ["a.js", "a.ts"], others: ["a.jsx", "abjs"] },
    { pattern: "a,b", matching: ["a,b"], others: ["a"] },
    { pattern: "a{b", matching: ["ab"], others: ["a"] },
    { pattern: "(a|b)+", matching: ["(a|b)+"], others: ["a"] },
    { pattern: "ж*", matching: ["жук"], others: ["жук/x"] },
  ])("$pattern matches $matching, not $others", async ({ pattern, matching, others }) => {
    const signal = new AbortController().signal;
    const paths = [...matching, ...others].map((path) => `/${path}`);
    const found = await matchingPaths({ pattern, paths, root: "/" }, new WorkBudget(), signal);
    expect(found).toEqual(matching.map((path) => `/${path}`));
  });
});

describe("grep", () => {
  it.each([
    {
      name: "finds lines",
      args: { pattern: "return" },
      text: "/workspace/src/a.py:2:    return 1\n/workspace/src/a.py:5:    return 2",
    },
    {
      name: "supports regular expressions",
      args: { pattern: "^def \\w+\\(", path: "src/a.py" },
      text: "/workspace/src/a.py:1:def one():\n/workspace/src/a.py:4:def two():",
    },
    {
      name: "searches a literal text",
      args: { pattern: "one()", literal: true },
      text: "/workspace/src/a.py:1:def one():\n/workspace/src/deep/b.py:2:print(a.one())",
    },
    {
      name: "ignores case",
      args: { pattern: "TITLE", ignore_case: true },
      text: "/workspace/README.md:1:# Title",
    },
    {
      name: "ignores case in a literal text",
      args: { pattern: "ONE()", literal: true, ignore_case: true, path: "src/a.py" },
      text: "/workspace/src/a.py:1:def one():",
    },
    {
      name: "searches only the files that match glob",
      args: { pattern: "a", glob: "*.test.py" },
      text: "/workspace/src/deep/b.test.py:1:assert True",
    },
    {
      name: "searches peers' snapshots",
      args: { pattern: "22", path: "/peers" },
      text: "/peers/agent2/src/a.py:5:    return 22",
    },
    {
      name: "shows context lines",
      args: { pattern: "two", path: "src", context_lines: 1 },
      text: "/workspace/src/a.py-3-\n/workspace/src/a.py:4:def two():\n/workspace/src/a.py-5-    return 2",
    },
    {
      name: "shows the context of two matches",
      args: { pattern: "def", path: "src/a.py", context_lines: 1 },
      text: "/workspace/src/a.py:1:def one():\n/workspace/src/a.py-2-    return 1\n/workspace/src/a.py-3-\n/workspace/src/a.py:4:def two():\n/workspace/src/a.py-5-    return 2",
    },
    {
      name: "lists files with the number of matching lines",
      args: { pattern: "return", files_only: true },
      text: "/workspace/src/a.py: 2",
    },
    {
      name: "matches lines that end in CRLF",
      args: { pattern: "^two$", path: "win.txt" },
      text: "/workspace/win.txt:2:two",
    },
    {
      name: "escapes control characters",
      args: { pattern: "needle", path: "escape.txt" },
      text: "/workspace/escape.txt:1:\\x1b[31mneedle",
    },
  ])("$name", async ({ args, text }) => {
    const result = await call("grep", args);
    expect(result.text.replace("\n[1 binary file was passed over.]", "")).toBe(text);
  });

  it("reports the files that it did not search", async () => {
    expect((await call("grep", { pattern: "nowhere" })).text).toBe(
      "No line matches nowhere in 8 files at /workspace. 1 binary file was passed over.",
    );
    expect((await call("grep", { pattern: "e" }, { entries: 2 })).text).toContain(
      "The search took in only until 2 lines matched",
    );
    expect((await call("grep", { pattern: "e" }, { searchedBytes: 20 })).text).toContain(
      "only 20 bytes of files",
    );
    expect((await call("grep", { pattern: "e" }, { searchedFiles: 1 })).text).toContain(
      "only the first 1 files",
    );
    expect((await call("grep", { pattern: "e" }, { resultBytes: 60 })).text).toMatch(
      /\[\d+ more lines are not shown/,
    );
  });

  it.each([
    { name: "the match of a regular expression", args: { pattern: "needle" } },
    { name: "the match of a plain text", args: { pattern: "needle", literal: true } },
  ])("shows only the part of a long line that contains $name", async ({ args }) => {
    const { text } = await call("grep", { ...args, path: "long.txt" });
    expect(text).toBe(
      `/workspace/long.txt:1:…${"x".repeat(394)}needle [characters 606 to 1006 of 1006 of this line]`,
    );
  });

  it.each([
    { name: "an invalid pattern", args: { pattern: "(" }, output: "The pattern ( cannot be used" },
    {
      name: "look-around",
      args: { pattern: "(?<=a)b" },
      output: "Look-around and back-references are not supported",
    },
    {
      name: "back-references",
      args: { pattern: "(a)\\1" },
      output: "Look-around and back-references are not supported",
    },
    {
      name: "a pattern of more than 1,000 characters",
      args: { pattern: "a".repeat(1_001) },
      output: "longer than 1000 characters",
    },
    {
      name: "nested repetitions",
      args: { pattern: "((a{1000}){1000}){1000}" },
      output: "Use smaller repeat counts",
    },
    { name: "a missing path", args: { pattern: "a", path: "nope" }, output: "does not exist" },
  ])("refuses $name", async ({ args, output }) => {
    const { outcome, text } = await call("grep", args);
    expect(text).toContain(output);
    expect(outcome).toBe("error");
  });

  it.each(["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)*x", "((a+)*b?)*$c"])(
    "searches for %s in less than 10 s",
    async (pattern) => {
      const world = { workspace: { "trap.txt": `${"a".repeat(5_000)}!\n`.repeat(20) } };
      const startedAt = performance.now();
      expect((await call("grep", { pattern }, {}, world)).outcome).toBe("ok");
      expect(performance.now() - startedAt).toBeLessThan(10_000);
    },
  );

  it("throws the reason of an abort", async () => {
    const grep = fileTools().find(({ spec }) => spec.name === "grep");
    const files = await agentFiles(WORLD);
    await expect(
      grep &&
        runTool(grep, { pattern: "a" }, files, { signal: AbortSignal.abort(new Error("gone")) }),
    ).rejects.toThrow("gone");
  });
});

describe("compare_files and compare_directories", () => {
  it.each([
    {
      name: "show differences",
      tool: "compare_files",
      args: { first: "src/a.py", second: "/peers/agent2/src/a.py" },
      output: "-    return 2\n+    return 22",
    },
    {
      name: "report equal files",
      tool: "compare_files",
      args: { first: "src/a.py", second: "src/a.py" },
      output: "are the same",
    },
    {
      name: "do not show binary files",
      tool: "compare_files",
      args: { first: "src/a.py", second: "logo.png" },
      output: "/workspace/logo.png (3 bytes) differ, and are not both text",
    },
    {
      name: "list differences",
      tool: "compare_directories",
      args: { first: "src", second: "/peers/agent2" },
      output:
        "Only in /workspace/src (3):\n  a.py\n  deep/b.py\n  deep/b.test.py\nOnly in /peers/agent2 (2):\n  new.txt\n  src/a.py\nThe same: 0",
    },
    {
      name: "report equal directories",
      tool: "compare_directories",
      args: { first: "src", second: "src" },
      output: "The same: 3",
    },
  ])("$name", async ({ tool, args, output }) => {
    const { outcome, text } = await call(tool, args);
    expect(text).toContain(output);
    expect(outcome).toBe("ok");
  });

  it("compare hashes of files, without reading contents", async () => {
    const { text, files } = await call("compare_directories", {
      first: "/workspace/src",
      second: "/peers/agent2/src",
    });
    expect(text).toContain("Different (1):\n  a.py");
    expect(files.accessed.filter(({ operation }) => operation === "read")).toEqual([]);
  });

  it("stop a comparison that would take minutes", async () => {
    const lines = Array.from({ length: 9_000 }, (_, index) => `${index}`);
    const world = { workspace: { up: lines.join("\n"), down: lines.toReversed().join("\n") } };
    expect(
      (await call("compare_files", { first: "up", second: "down" }, {}, world)).text,
    ).toContain("differ in too many lines to tell them all");
  });

  it("refuse a file in place of a directory", async () => {
    expect(
      (await call("compare_directories", { first: "src/a.py", second: "src" })).text,
    ).toContain("is a file, not a directory.");
  });
});

describe("fileTools", () => {
  it("returns tools with the names of common file servers, in a fixed order", () => {
    expect(fileTools().map(({ spec }) => spec.name)).toEqual([
      "read_file",
      "write_file",
      "edit_file",
      "list_directory",
      "search_files",
      "grep",
      "copy_file",
      "move_file",
      "delete_file",
      "compare_files",
      "compare_directories",
    ]);
  });

  it.each(fileTools().map((tool) => ({ name: tool.spec.name, tool })))(
    "describes the arguments of $name with a plain JSON Schema",
    ({ tool }) => {
      expect(tool.rule).toEqual({ name: tool.spec.name, acts_outside: false, idempotent: true });
      expect(tool.spec.parameters).toMatchObject({ type: "object", additionalProperties: false });
      expect(JSON.stringify(tool.spec.parameters)).not.toMatch(/\$schema|9007199254740991/);
      expect(tool.spec.description.length).toBeLessThan(200);
    },
  );

  it("declares the required arguments", () => {
    const requiredArguments = Object.fromEntries(
      fileTools().map(({ spec }) => [spec.name, spec.parameters["required"] ?? []]),
    );
    expect(requiredArguments).toMatchObject({
      read_file: ["path"],
      edit_file: ["path", "old_string", "new_string"],
      list_directory: [],
      grep: ["pattern"],
    });
  });
});
