import { describe, expect, it } from "vitest";
import { agentFiles, fileTool, runTool } from "./agent-tree";
import { silenceDuring } from "../../patterns/silence";

const randomText = (length: number): string => {
  let seed = 12_345;
  return Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (seed >> 8) % 2 === 0 ? "a" : "b";
  }).join("");
};
const LONG_NAME = "abcdefgh".repeat(30);
const manyPaths = Object.fromEntries(
  Array.from({ length: 2_000 }, (_, at) => [`${LONG_NAME}/${LONG_NAME}/${LONG_NAME}/${at}`, ""]),
);

/** The calls of finding H5, and similar calls, which took time in proportion to text x pattern. */
const ROWS = [
  {
    name: "grep for an expression over one line of 400 kB",
    tool: "grep",
    args: { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" },
    workspace: { "f.txt": randomText(400_000) },
  },
  {
    name: "grep for an expression over many lines",
    tool: "grep",
    args: { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" },
    workspace: { "f.txt": `${randomText(99)}\n`.repeat(4_000) },
  },
  {
    name: "search_files with 1,000 characters of classes over long paths",
    tool: "search_files",
    args: { pattern: `${"*[!x]".repeat(195)}[yz]` },
    workspace: manyPaths,
  },
  {
    name: "grep with such a glob",
    tool: "grep",
    args: { pattern: "a", glob: `${"*[!x]".repeat(195)}[yz]` },
    workspace: manyPaths,
  },
];

describe("a costly pattern", () => {
  it.each(ROWS)(
    "of $name is refused, and other requests wait only a moment (H5)",
    async ({ tool, args, workspace }) => {
      const files = await agentFiles({ workspace });
      const { result, cpuMs } = await silenceDuring(() => runTool(fileTool(tool), args, files));
      expect(result.outcome).toBe("error");
      expect(result.text).toContain("pattern_too_costly");
      expect(cpuMs).toBeLessThan(400);
    },
  );

  it("is not a cheap pattern over many files", async () => {
    const files = await agentFiles({
      workspace: { "log.txt": `${"some words of a log ".repeat(5)}\n`.repeat(30_000) },
    });
    const { result, cpuMs } = await silenceDuring(() =>
      runTool(fileTool("grep"), { pattern: "error|warn(ing)?\\b" }, files),
    );
    expect(result.text).toContain("No line matches");
    expect(cpuMs).toBeLessThan(400);
  });
});
