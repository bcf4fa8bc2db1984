import { expect, it } from "vitest";
import { reportedCount } from "../../src/providers/reply-size";

it.each([
  { name: "a count is unchanged", value: 7, gives: 7 },
  { name: "zero is a count", value: 0, gives: 0 },
  { name: "a fraction is rounded down", value: 7.9, gives: 7 },
  { name: "a negative count is no report", value: -1, gives: 5 },
  { name: "an impossible number is no report", value: 1e10, gives: 5 },
  { name: "NaN is no report", value: Number.NaN, gives: 5 },
  { name: "a text is no report", value: "7", gives: 5 },
])("$name", ({ value, gives }) => {
  expect(reportedCount(value, 5)).toBe(gives);
});
