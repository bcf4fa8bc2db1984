import { expect, it } from "vitest";
import { resultText } from "../../src/providers/call-ids";

it.each([
  {
    name: "a failure is marked",
    text: "no such file",
    isError: true,
    expected: "Error: no such file",
  },
  {
    name: "a failure with a mark is unchanged",
    text: "error: no such file",
    isError: true,
    expected: "error: no such file",
  },
  { name: "a result is unchanged", text: "42", isError: false, expected: "42" },
])("$name", ({ text, isError, expected }) => {
  expect(resultText({ text, isError })).toBe(expected);
});
