import { expect, it } from "vitest";
import { resultText } from "../../src/providers/call-ids";

it.each([
  {
    name: "a failure is marked",
    text: "no such file",
    isError: true,
    gives: "Error: no such file",
  },
  {
    name: "a failure with a mark is unchanged",
    text: "error: no such file",
    isError: true,
    gives: "error: no such file",
  },
  { name: "a result is unchanged", text: "42", isError: false, gives: "42" },
])("$name", ({ text, isError, gives }) => {
  expect(resultText({ text, isError })).toBe(gives);
});
