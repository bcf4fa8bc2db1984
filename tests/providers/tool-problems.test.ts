import { describe, expect, it } from "vitest";
import { FORMAT_NAMES } from "../../src/providers/format-params";
import type { Format } from "../../src/providers/registry";
import { toolProblem, whyUnfit } from "../../src/providers/tool-problems";
import { sent } from "./gemini/calls";

const toolWith = (a: object) => ({
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { a } },
});
const UNSUPPORTED = { not: { type: "null" } };
const formats = Object.keys(FORMAT_NAMES).filter((name): name is Format => name in FORMAT_NAMES);

describe("a tool's problem with a format", () => {
  it.each([
    { name: "a simple schema", part: { type: "string" } },
    { name: "a keyword that is described in words", part: { type: "string", pattern: "^a" } },
    { name: "an excluded keyword", part: UNSUPPORTED },
    {
      name: "property names by pattern",
      part: { type: "object", patternProperties: { "^a": {} } },
    },
    { name: "a condition", part: { if: { type: "string" }, then: { minLength: 1 } } },
  ])("is exactly what the adapter itself refuses: $name", async ({ part }) => {
    const problem = toolProblem("gemini", toolWith(part));
    const made = sent({ tools: [toolWith(part)] });
    if (problem === null) await expect(made).resolves.toBeDefined();
    else await expect(made).rejects.toThrow(problem.detail);
  });

  it("is described as a clause, with its JSON pointer", () => {
    const problem = toolProblem("gemini", toolWith(UNSUPPORTED));
    expect(problem && whyUnfit(problem)).toBe(
      "its schema is not supported by the agent's model: `not` at /properties/a: this provider's schemas have nothing like it",
    );
  });

  it.each(formats.filter((format) => format !== "gemini"))(
    "does not exist in formats that send schemas unchanged: %s",
    (format) => {
      expect(toolProblem(format, toolWith(UNSUPPORTED))).toBeNull();
    },
  );
});
