import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FILE_TOOL_LIMITS } from "../../../src/tools/files";
import { readFileTool } from "../../../src/tools/files/read-file";
import { type Contents, agentFiles, runTool } from "./agent-tree";

const numbered = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n");
const FILES: Contents = {
  "a.txt": "one\ntwo\nthree\n",
  "no-end.txt": "one\ntwo",
  "crlf.txt": "one\r\ntwo\r\n",
  "empty.txt": "",
  "many.txt": `${numbered}\n`,
  "wide.txt": `first\n${"漢".repeat(300)}\nlast\n`,
  "emoji.txt": "😀😀😀",
  "escape.txt": "\u001b[31mred\n",
  "image.png": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]),
  "latin1.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9]),
};
const tool = (resultBytes: number = FILE_TOOL_LIMITS.resultBytes) =>
  readFileTool({ ...FILE_TOOL_LIMITS, resultBytes });
const read = async (args: object, resultBytes?: number) =>
  runTool(tool(resultBytes), args, await agentFiles({ workspace: FILES }));

describe("read_file", () => {
  it.each([
    { name: "returns a whole file unchanged", args: { path: "a.txt" }, text: "one\ntwo\nthree" },
    { name: "accepts absolute paths", args: { path: "/workspace/a.txt" }, text: "one\ntwo\nthree" },
    {
      name: "returns lines",
      args: { path: "a.txt", start_line: 2, end_line: 2 },
      text: "two\n[Lines 2 to 2 of 3. Read on with start_line: 3.]",
    },
    {
      name: "returns the last lines",
      args: { path: "a.txt", start_line: 2 },
      text: "two\nthree\n[Lines 2 to 3 of 3.]",
    },
    {
      name: "accepts an end beyond the file's end",
      args: { path: "a.txt", end_line: 99 },
      text: "one\ntwo\nthree",
    },
    {
      name: "numbers lines",
      args: { path: "no-end.txt", line_numbers: true },
      text: "1\tone\n2\ttwo",
    },
    { name: "shows Windows line ends as line feeds", args: { path: "crlf.txt" }, text: "one\ntwo" },
    {
      name: "returns characters",
      args: { path: "a.txt", start_char: 4, max_chars: 3 },
      text: "two\n[Characters 4 to 7 of 14. Read on with start_char: 7.]",
    },
    {
      name: "returns the rest of the characters",
      args: { path: "a.txt", start_char: 8 },
      text: "three\n\n[Characters 8 to 14 of 14.]",
    },
    {
      name: "never splits a character",
      args: { path: "emoji.txt", start_char: 0, max_chars: 3 },
      text: "😀\n[Characters 0 to 2 of 6. Read on with start_char: 2.]",
    },
    {
      name: "advances even if one character exceeds the requested size",
      args: { path: "emoji.txt", start_char: 1, max_chars: 1 },
      text: "😀\n[Characters 0 to 2 of 6. Read on with start_char: 2.]",
    },
    {
      name: "never separates a Windows line break from its line",
      args: { path: "crlf.txt", start_char: 0, max_chars: 4 },
      text: "one\n[Characters 0 to 3 of 10. Read on with start_char: 3.]",
    },
    {
      name: "advances even if a Windows line break exceeds the requested size",
      args: { path: "crlf.txt", start_char: 4, max_chars: 1 },
      text: "\n\n[Characters 3 to 5 of 10. Read on with start_char: 5.]",
    },
    {
      name: "reports an empty file",
      args: { path: "empty.txt" },
      text: "[/workspace/empty.txt is empty.]",
    },
    { name: "escapes control characters", args: { path: "escape.txt" }, text: "\\x1b[31mred" },
    {
      name: "treats null like an omitted argument",
      args: { path: "a.txt", start_line: null },
      text: "one\ntwo\nthree",
    },
  ])("$name", async ({ args, text }) => {
    expect(await read(args)).toEqual({ outcome: "ok", text });
  });

  it("returns as many whole lines as fit, and says where to read on", async () => {
    const { text } = await read({ path: "many.txt" }, 50);
    expect(text).toBe(
      `${numbered.split("\n").slice(0, 7).join("\n")}\n[Lines 1 to 7 of 20. Read on with start_line: 8.]`,
    );
  });

  it("returns a too long line by characters", async () => {
    const { text } = await read({ path: "wide.txt", start_line: 2 }, 90);
    expect(text).toMatch(
      /^漢{22}\n\[Line 2 is too long for one result: characters 6 to 28 of 312\. Read on with start_char: 28\.\]$/,
    );
  });

  it.each([
    {
      name: "a missing file",
      args: { path: "nope.txt" },
      says: "/workspace/nope.txt does not exist",
    },
    { name: "a directory", args: { path: "/workspace" }, says: "is a directory" },
    {
      name: "a binary file, without its contents",
      args: { path: "image.png" },
      says: "not a text file in UTF-8 (7 bytes)",
    },
    {
      name: "text in another encoding",
      args: { path: "latin1.txt" },
      says: "not a text file in UTF-8",
    },
    {
      name: "missing lines",
      args: { path: "a.txt", start_line: 4 },
      says: "has 3 lines",
    },
    {
      name: "an end before the start",
      args: { path: "a.txt", start_line: 3, end_line: 2 },
      says: "end_line must not be less",
    },
    {
      name: "missing characters",
      args: { path: "a.txt", start_char: 14 },
      says: "has 14 characters",
    },
    {
      name: "lines and characters together",
      args: { path: "a.txt", start_line: 1, start_char: 1 },
      says: "not both",
    },
    {
      name: "a missing path",
      args: {},
      says: "The arguments of read_file are not right, so nothing was done. path:",
    },
    {
      name: "unknown arguments",
      args: { path: "a.txt", encoding: "latin1" },
      says: "encoding",
    },
    { name: "a path of another type", args: { path: 3 }, says: "path:" },
    { name: "a list instead of arguments", args: [] as object, says: "arguments" },
    {
      name: "another's private workspace",
      args: { path: "/agents/agent2/a.txt" },
      says: "outside of your files",
    },
    {
      name: "a path above the root",
      args: { path: "../../etc/passwd" },
      says: "leads above the root",
    },
    { name: "a path with NUL", args: { path: "a\0.txt" }, says: "cannot be seen" },
  ])("refuses $name", async ({ args, says }) => {
    const { outcome, text } = await read(args);
    expect(outcome).toBe("error");
    expect(text).toContain(says);
  });

  it("reports a missing workspace", async () => {
    expect(await runTool(tool(), { path: "a.txt" }, null)).toMatchObject({ outcome: "error" });
  });

  it("reaches the end of any file, page by page, without gaps", async () => {
    const unit = fc.constantFrom("a", "é", "漢", "😀", "\n", "\r\n", " ");
    const files = fc.record({
      text: fc.string({ unit, minLength: 1, maxLength: 300 }),
      bytes: fc.integer({ min: 8, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(files, async ({ text, bytes }) => {
        const tree = await agentFiles({ workspace: { f: text } });
        let [whole, start] = ["", 0];
        while (start < text.length) {
          const page = await runTool(tool(bytes), { path: "f", start_char: start }, tree);
          const end = /\n\[Characters \d+ to (\d+) of \d+\.[^\]]*\]$/.exec(page.text);
          const next = Number(end?.[1] ?? text.length);
          expect(next).toBeGreaterThan(start);
          whole += end ? page.text.slice(0, end.index) : page.text;
          start = next;
        }
        expect(whole).toBe(text.replaceAll("\r\n", "\n"));
      }),
      { numRuns: 300, examples: [[{ text: "a😀漢a", bytes: 8 }]] },
    );
  });
});
