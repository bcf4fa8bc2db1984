import { describe, expect, it } from "vitest";
import { fittingName } from "../../src/providers/call-ids";

describe("the name of a called tool", () => {
  it.each([
    {
      name: "stays as it is where a tool could have it",
      given: "new_answer-2",
      gives: "new_answer-2",
    },
    {
      name: "loses the signs no tool's name has",
      given: "multi_tool_use.parallel",
      gives: "multi_tool_use_parallel",
    },
    { name: "loses letters of other alphabets", given: "голос 🗳", gives: "________" },
    {
      name: "is cut to the longest a tool can have",
      given: "n".repeat(100),
      gives: "n".repeat(64),
    },
    { name: "is given where there is none", given: "", gives: "unnamed" },
    {
      name: "may be longer where the server takes longer ones",
      given: "n".repeat(100),
      longest: 128,
      gives: "n".repeat(100),
    },
  ])("$name", ({ given, longest, gives }) => {
    expect(fittingName(given, longest)).toBe(gives);
  });
});
