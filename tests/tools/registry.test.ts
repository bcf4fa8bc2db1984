import { describe, expect, it } from "vitest";
import { parameterProblem } from "../../src/tools/parameters";
import { REGISTRY, registeredTool } from "../../src/tools/registry";
import { contextWith } from "./http/tool-builders";

describe("each tool of the registry", () => {
  it.each(REGISTRY.map((tool) => [tool.spec.name, tool] as const))(
    "%s has a unique name and a valid schema",
    (name, tool) => {
      expect(REGISTRY.filter(({ spec }) => spec.name === name)).toHaveLength(1);
      expect(tool.rule.name).toBe(name);
      expect(parameterProblem(tool.spec.parameters)).toBeNull();
    },
  );
});

describe("current_time", () => {
  const run = (args: unknown) =>
    registeredTool("current_time")?.run(
      args,
      contextWith(fetch, { now: () => Date.UTC(2026, 10, 22, 9, 5) }),
    );

  it.each([
    [
      {},
      {
        outcome: "ok",
        text: "Sunday, 22 November 2026 at 09:05:00 UTC (2026-11-22T09:05:00.000Z)",
      },
    ],
    [{ time_zone: "Asia/Tokyo" }, { outcome: "ok", text: expect.stringContaining("18:05:00") }],
    [
      { time_zone: "Mars/Base" },
      { outcome: "error", text: expect.stringContaining('no time zone "Mars/Base"') },
    ],
    [{ zone: "UTC" }, { outcome: "error", text: expect.stringContaining("zone") }],
    [null, { outcome: "error", text: "The arguments must be a JSON object." }],
  ])("returns the time or a problem for the arguments %j", async (args, result) =>
    expect(await run(args)).toEqual(result),
  );
});
