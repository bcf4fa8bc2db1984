import { expect, it } from "vitest";
import { reportedCount } from "../../src/providers/reply-size";

it.each([
  { name: "a count is unchanged", value: 7, expected: 7 },
  { name: "zero is a valid count", value: 0, expected: 0 },
  { name: "a fraction is rounded down", value: 7.9, expected: 7 },
  { name: "a negative count counts as missing", value: -1, expected: 5 },
  { name: "an impossible number counts as missing", value: 1e10, expected: 5 },
  { name: "NaN counts as missing", value: Number.NaN, expected: 5 },
  { name: "a text counts as missing", value: "7", expected: 5 },
])("$name", ({ value, expected }) => {
  expect(reportedCount(value, 5)).toBe(expected);
});
