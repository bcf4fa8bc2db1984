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
  Array.from({ length: 2_000 }, (_, index) => [
    `${LONG_NAME}/${LONG_NAME}/${LONG_NAME}/${index}`,
    "",
  ]),
);

/**
 * Calls whose time would be proportional to the length of the text times the length of the pattern.
 */
const COSTLY_CALLS = [
  {
    name: "grep in one line of 400 kB",
    tool: "grep",
    args: { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" },
    workspace: { "f.txt": randomText(400_000) },
  },
  {
    name: "grep in many lines",
    tool: "grep",
    args: { pattern: "(?:[ab]?){480}a[ab]{480}[cd]" },
    workspace: { "f.txt": `${randomText(99)}\n`.repeat(4_000) },
  },
  {
    name: "search_files for a pattern with many character classes in long paths",
    tool: "search_files",
    args: { pattern: `${"*[!x]".repeat(195)}[yz]` },
    workspace: manyPaths,
  },
  {
    name: "grep in files that match such a pattern",
    tool: "grep",
    args: { pattern: "a", glob: `${"*[!x]".repeat(195)}[yz]` },
    workspace: manyPaths,
  },
];

describe("a costly pattern", () => {
  it.each(COSTLY_CALLS)(
    "of $name is refused, and other requests wait less than 0.4 s (H5)",
    async ({ tool, args, workspace }) => {
      const files = await agentFiles({ workspace });
      const { result, cpuMs } = await silenceDuring(() => runTool(fileTool(tool), args, files));
      expect(result.outcome).toBe("error");
      expect(result.text).toContain("pattern_too_costly");
      expect(cpuMs).toBeLessThan(400);
    },
  );

  it("does not mean a cheap pattern in a long file, which is searched", async () => {
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
