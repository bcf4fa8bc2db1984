import { expect, it } from "vitest";
import { resultText } from "../../src/providers/call-ids";

it.each([
  { name: "a failure says so", text: "no such file", isError: true, gives: "Error: no such file" },
  {
    name: "a failure that says so is left alone",
    text: "error: no such file",
    isError: true,
    gives: "error: no such file",
  },
  { name: "a result is left alone", text: "42", isError: false, gives: "42" },
])("$name", ({ text, isError, gives }) => {
  expect(resultText({ text, isError })).toBe(gives);
});
