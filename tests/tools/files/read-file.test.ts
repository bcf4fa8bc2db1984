import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FILE_TOOL_LIMITS } from "../../../src/tools/files";
import { readFileTool } from "../../../src/tools/files/read-file";
import { type Contents, agentFiles, runTool } from "./agent-tree";

const twentyLines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n");
const FILES: Contents = {
  "a.txt": "one\ntwo\nthree\n",
  "no-end.txt": "one\ntwo",
  "crlf.txt": "one\r\ntwo\r\n",
  "empty.txt": "",
  "many.txt": `${twentyLines}\n`,
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
      name: "accepts an end_line after the last line",
      args: { path: "a.txt", end_line: 99 },
      text: "one\ntwo\nthree",
    },
    {
      name: "shows line numbers",
      args: { path: "no-end.txt", line_numbers: true },
      text: "1\tone\n2\ttwo",
    },
    { name: "shows CRLF as LF", args: { path: "crlf.txt" }, text: "one\ntwo" },
    {
      name: "returns a range of characters",
      args: { path: "a.txt", start_char: 4, max_chars: 3 },
      text: "two\n[Characters 4 to 7 of 14. Read on with start_char: 7.]",
    },
    {
      name: "returns the rest of the characters",
      args: { path: "a.txt", start_char: 8 },
      text: "three\n\n[Characters 8 to 14 of 14.]",
    },
    {
      name: "does not split a surrogate pair",
      args: { path: "emoji.txt", start_char: 0, max_chars: 3 },
      text: "😀\n[Characters 0 to 2 of 6. Read on with start_char: 2.]",
    },
    {
      name: "returns a whole character that is longer than max_chars",
      args: { path: "emoji.txt", start_char: 1, max_chars: 1 },
      text: "😀\n[Characters 0 to 2 of 6. Read on with start_char: 2.]",
    },
    {
      name: "does not split CRLF",
      args: { path: "crlf.txt", start_char: 0, max_chars: 4 },
      text: "one\n[Characters 0 to 3 of 10. Read on with start_char: 3.]",
    },
    {
      name: "returns a whole CRLF that is longer than max_chars",
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

  it("returns as many whole lines as fit, and says where to continue", async () => {
    const { text } = await read({ path: "many.txt" }, 50);
    expect(text).toBe(
      `${twentyLines.split("\n").slice(0, 7).join("\n")}\n[Lines 1 to 7 of 20. Read on with start_line: 8.]`,
    );
  });

  it("returns a line that is too long by characters", async () => {
    const { text } = await read({ path: "wide.txt", start_line: 2 }, 90);
    expect(text).toMatch(
      /^漢{22}\n\[Line 2 is too long for one result: characters 6 to 28 of 312\. Read on with start_char: 28\.\]$/,
    );
  });

  it.each([
    {
      name: "a missing file",
      args: { path: "nope.txt" },
      expectedText: "/workspace/nope.txt does not exist",
    },
    { name: "a directory", args: { path: "/workspace" }, expectedText: "is a directory" },
    {
      name: "a binary file, without its contents",
      args: { path: "image.png" },
      expectedText: "not a text file in UTF-8 (7 bytes)",
    },
    {
      name: "text in another encoding",
      args: { path: "latin1.txt" },
      expectedText: "not a text file in UTF-8",
    },
    {
      name: "a start_line after the last line",
      args: { path: "a.txt", start_line: 4 },
      expectedText: "has 3 lines",
    },
    {
      name: "an end_line before start_line",
      args: { path: "a.txt", start_line: 3, end_line: 2 },
      expectedText: "end_line must not be less",
    },
    {
      name: "a start_char after the last character",
      args: { path: "a.txt", start_char: 14 },
      expectedText: "has 14 characters",
    },
    {
      name: "lines and characters together",
      args: { path: "a.txt", start_line: 1, start_char: 1 },
      expectedText: "not both",
    },
    {
      name: "a missing path",
      args: {},
      expectedText: "The arguments of read_file are not right, so nothing was done. path:",
    },
    {
      name: "unknown arguments",
      args: { path: "a.txt", encoding: "latin1" },
      expectedText: "encoding",
    },
    { name: "a path of another type", args: { path: 3 }, expectedText: "path:" },
    { name: "a list instead of arguments", args: [] as object, expectedText: "arguments" },
    {
      name: "the workspace of another agent",
      args: { path: "/agents/agent2/a.txt" },
      expectedText: "outside of your files",
    },
    {
      name: "a path above the root",
      args: { path: "../../etc/passwd" },
      expectedText: "leads above the root",
    },
    { name: "a path with NUL", args: { path: "a\0.txt" }, expectedText: "cannot be seen" },
  ])("refuses $name", async ({ args, expectedText }) => {
    const { outcome, text } = await read(args);
    expect(outcome).toBe("error");
    expect(text).toContain(expectedText);
  });

  it("reports a missing workspace", async () => {
    expect(await runTool(tool(), { path: "a.txt" }, null)).toMatchObject({ outcome: "error" });
  });

  it("reads any file to its end, page by page, without gaps", async () => {
    const unit = fc.constantFrom("a", "é", "漢", "😀", "\n", "\r\n", " ");
    const files = fc.record({
      text: fc.string({ unit, minLength: 1, maxLength: 300 }),
      bytes: fc.integer({ min: 8, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(files, async ({ text, bytes }) => {
        const tree = await agentFiles({ workspace: { f: text } });
        let [joinedPages, start] = ["", 0];
        while (start < text.length) {
          const page = await runTool(tool(bytes), { path: "f", start_char: start }, tree);
          const end = /\n\[Characters \d+ to (\d+) of \d+\.[^\]]*\]$/.exec(page.text);
          const next = Number(end?.[1] ?? text.length);
          expect(next).toBeGreaterThan(start);
          joinedPages += end ? page.text.slice(0, end.index) : page.text;
          start = next;
        }
        expect(joinedPages).toBe(text.replaceAll("\r\n", "\n"));
      }),
      { numRuns: 300, examples: [[{ text: "a😀漢a", bytes: 8 }]] },
    );
  });
});
