import { describe, expect, it } from "vitest";
import { readToolResultTool, readsToolResults } from "../../../src/tools/files";
import { keepResult, RESULT_LIMITS, type ResultReader } from "../../../src/tools/large-results";
import { FULL_CONTEXT, teamOf, teamWith } from "../../config/teams";
import { Rig } from "../../workspace/rig";

const HTTP =
  "custom_tools:\n  - name: look\n    description: Looks.\n    url: https://look.example.com\n    method: GET";

describe("the tool read_tool_result", () => {
  it.each([
    {
      name: "is offered to an agent without files whose tools call servers",
      backend: `type: claude\n${HTTP}`,
      canRead: true,
    },
    {
      name: "is not offered to an agent with files: the file tools read its results",
      backend: `type: claude\ncwd: work\n${HTTP}`,
      canRead: false,
    },
    {
      name: "is not offered to an agent whose tools call no server",
      backend: "type: claude",
      canRead: false,
    },
  ])("$name (D12)", ({ backend, canRead }) => {
    const { rules } = teamOf(teamWith(backend), FULL_CONTEXT);
    expect(readsToolResults(rules.agents[0]?.tools ?? [])).toBe(canRead);
  });

  it.each([
    {
      args: { path: ".tool_results/a.txt", start_char: 2, max_chars: 3 },
      outcome: "ok",
      expectedText: "cde\n[Characters 2 to 5 of 6. Read on with start_char: 5.]",
    },
    { args: { path: ".tool_results/a.txt" }, outcome: "ok", expectedText: "abcdef" },
    {
      args: { path: ".tool_results/../b.txt" },
      outcome: "error",
      expectedText: "/workspace/b.txt is no kept result. Give the path that a result names.",
    },
    {
      args: { path: ".tool_results/none.txt" },
      outcome: "error",
      expectedText: expect.stringContaining("/workspace/.tool_results/none.txt"),
    },
  ])(
    "reads only results: $args.path has the outcome $outcome (D12)",
    async ({ args, outcome, expectedText }) => {
      const rig = await Rig.of({ workspace: { ".tool_results/a.txt": "abcdef", "b.txt": "B" } });
      const context = { files: rig.open() } as unknown as Parameters<
        ReturnType<typeof readToolResultTool>["run"]
      >[1];
      expect(await readToolResultTool().run(args, context)).toEqual({
        outcome,
        text: expectedText,
      });
    },
  );

  it.each<{ reader: ResultReader; expectedText: RegExp }>([
    {
      reader: "read_file",
      expectedText:
        /Read on with read_file \(path: ".+", start_char: \d+\), or search it with grep\./,
    },
    {
      reader: "read_tool_result",
      expectedText: /Read on with read_tool_result \(path: ".+", start_char: \d+\)\.$/m,
    },
    {
      reader: "run_command",
      expectedText:
        /Read on with run_command \(`tail -c \+\d+ \.tool_results\/.+\.txt \| head -c 40000`\)/,
    },
  ])(
    "is one of the tools that a large result can name: $reader (D12)",
    ({ reader, expectedText }) => {
      const kept = keepResult(
        { tool: "look", id: "1", at: 0, text: "é".repeat(200_000), calibration: 1, reader },
        RESULT_LIMITS,
      );
      expect(kept.kind === "evicted" ? kept.reference : "").toMatch(expectedText);
    },
  );
});
