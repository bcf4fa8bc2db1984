import { describe, expect, it } from "vitest";
import { readToolResultTool, readsToolResults } from "../../../src/tools/files";
import { keepResult, RESULT_LIMITS, type ResultReader } from "../../../src/tools/large-results";
import { FULL_CONTEXT, teamOf, teamWith } from "../../config/teams";
import { Rig } from "../../workspace/rig";

const HTTP =
  "custom_tools:\n  - name: look\n    description: Looks.\n    url: https://look.example.com\n    method: GET";

describe("an agent reads its large results in pages", () => {
  it.each([
    {
      name: "if it has no files and its tools call servers",
      backend: `type: claude\n${HTTP}`,
      reads: true,
    },
    {
      name: "with its file tools if it has files",
      backend: `type: claude\ncwd: work\n${HTTP}`,
      reads: false,
    },
    { name: "never if none of its tools calls a server", backend: "type: claude", reads: false },
  ])("$name (D12)", ({ backend, reads }) => {
    const { rules } = teamOf(teamWith(backend), FULL_CONTEXT);
    expect(readsToolResults(rules.agents[0]?.tools ?? [])).toBe(reads);
  });

  it.each([
    {
      args: { path: ".tool_results/a.txt", start_char: 2, max_chars: 3 },
      outcome: "ok",
      says: "cde\n[Characters 2 to 5 of 6. Read on with start_char: 5.]",
    },
    { args: { path: ".tool_results/a.txt" }, outcome: "ok", says: "abcdef" },
    {
      args: { path: ".tool_results/../b.txt" },
      outcome: "error",
      says: "/workspace/b.txt is no kept result. Give the path that a result names.",
    },
    {
      args: { path: ".tool_results/none.txt" },
      outcome: "error",
      says: expect.stringContaining("/workspace/.tool_results/none.txt"),
    },
  ])("$args.path $outcome (D12)", async ({ args, outcome, says }) => {
    const rig = await Rig.of({ workspace: { ".tool_results/a.txt": "abcdef", "b.txt": "B" } });
    const context = { files: rig.open() } as unknown as Parameters<
      ReturnType<typeof readToolResultTool>["run"]
    >[1];
    expect(await readToolResultTool().run(args, context)).toEqual({ outcome, text: says });
  });

  it.each<{ reader: ResultReader; says: RegExp }>([
    {
      reader: "read_file",
      says: /Read on with read_file \(path: ".+", start_char: \d+\), or search it with grep\./,
    },
    {
      reader: "read_tool_result",
      says: /Read on with read_tool_result \(path: ".+", start_char: \d+\)\.$/m,
    },
    {
      reader: "run_command",
      says: /Read on with run_command \(`tail -c \+\d+ \.tool_results\/.+\.txt \| head -c 40000`\)/,
    },
  ])("is pointed to $reader if it has that tool (D12)", ({ reader, says }) => {
    const kept = keepResult(
      { tool: "look", id: "1", at: 0, text: "é".repeat(200_000), calibration: 1, reader },
      RESULT_LIMITS,
    );
    expect(kept.kind === "evicted" ? kept.reference : "").toMatch(says);
  });
});
