import { describe, expect, it } from "vitest";
import { byteLength } from "../../../src/coordination/byte-length";
import { agentFiles, fileTool, runTool, type World } from "./agent-tree";

const repeatLines = (count: number, line: (number: number) => string): string =>
  Array.from({ length: count }, (_, number) => line(number + 1)).join("\n");
const WORLD: World = {
  workspace: {
    "lines.txt": repeatLines(3_000, (number) => `line ${number}`),
    "other.txt": repeatLines(3_000, (number) => `line ${number % 7 ? number : -number}`),
    "wide.txt": repeatLines(40, () => "漢字".repeat(5_000)),
    "hidden.txt": "\u202e".repeat(50_000),
    ...Object.fromEntries(
      Array.from({ length: 900 }, (_, number) => [`many/a-name-of-some-length-${number}.txt`, ""]),
    ),
  },
  peers: { agent2: { "new.txt": "n\n" } },
};
const callTool = async (name: string, args: object, resultBytes: number) =>
  runTool(fileTool(name), args, await agentFiles(WORLD), { resultBytes });

/**
 * The first and the last limit are the extremes: a team's smallest limit with a provider's highest
 * calibration, and a team's largest limit with the lowest calibration.
 */
describe.each([1_000, 4_000, 48_000, 1_600_000])(
  "a result with a limit of %i bytes",
  (resultBytes) => {
    it.each([
      { tool: "read_file", args: { path: "lines.txt" } },
      { tool: "read_file", args: { path: "lines.txt", start_line: 200, line_numbers: true } },
      { tool: "read_file", args: { path: "wide.txt" } },
      { tool: "read_file", args: { path: "wide.txt", start_char: 7, max_chars: 90_000 } },
      { tool: "read_file", args: { path: "hidden.txt" } },
      { tool: "list_directory", args: { path: "many" } },
      { tool: "list_directory", args: { recursive: true } },
      { tool: "search_files", args: { pattern: "*.txt" } },
      { tool: "grep", args: { pattern: "line" } },
      { tool: "grep", args: { pattern: "字", context_lines: 3 } },
      { tool: "compare_files", args: { first: "lines.txt", second: "other.txt" } },
      { tool: "compare_directories", args: { first: "/workspace", second: "/peers/agent2" } },
    ])("fits into the limit: $tool $args", async ({ tool, args }) => {
      const { outcome, text } = await callTool(tool, args, resultBytes);
      expect(outcome).toBe("ok");
      expect(byteLength(text)).toBeLessThanOrEqual(Math.min(resultBytes, 48_500));
      expect(byteLength(text)).toBeGreaterThan(Math.min(resultBytes, 48_000) / 20);
    });
  },
);

describe("a call with a small result limit", () => {
  it("returns matching lines, although they are long", async () => {
    const { text } = await callTool("grep", { pattern: "字" }, 1_000);
    expect(text).toMatch(/^\/workspace\/wide\.txt:1:漢字/);
  });

  it("reads a file to its end, page by page", async () => {
    const files = await agentFiles({ workspace: { "wide.txt": "漢字".repeat(10_000) } });
    let [start, pages] = [0, 0];
    while (start < 20_000 && pages < 1_000) {
      const args = { path: "wide.txt", start_char: start };
      const { text } = await runTool(fileTool("read_file"), args, files, { resultBytes: 4_000 });
      start = Number(/Read on with start_char: (\d+)/.exec(text)?.[1] ?? 20_000);
      pages += 1;
    }
    expect(start).toBe(20_000);
    expect(pages).toBeLessThan((2 * 60_000) / 3_600);
  });
});
