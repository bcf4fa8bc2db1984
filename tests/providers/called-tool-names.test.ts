import { describe, expect, it } from "vitest";
import { fittingName } from "../../src/providers/call-ids";

describe("the name of a called tool", () => {
  it.each([
    {
      name: "stays if it is valid",
      given: "new_answer-2",
      expected: "new_answer-2",
    },
    {
      name: "loses invalid characters",
      given: "multi_tool_use.parallel",
      expected: "multi_tool_use_parallel",
    },
    { name: "loses letters of other alphabets", given: "голос 🗳", expected: "________" },
    {
      name: "is cut to the longest valid name",
      given: "n".repeat(100),
      expected: "n".repeat(64),
    },
    { name: "has a default if it is empty", given: "", expected: "unnamed" },
    {
      name: "may be longer if the server allows longer names",
      given: "n".repeat(100),
      longest: 128,
      expected: "n".repeat(100),
    },
  ])("$name", ({ given, longest, expected }) => {
    expect(fittingName(given, longest)).toBe(expected);
  });
});
