import { expect, it } from "vitest";
import { reportedCount } from "../../src/providers/reply-size";

it.each([
  { name: "a count is taken as it is", value: 7, gives: 7 },
  { name: "none is 0", value: 0, gives: 0 },
  { name: "a part of a token is none", value: 7.9, gives: 7 },
  { name: "a negative count is no report", value: -1, gives: 5 },
  { name: "more than any call can have is no report", value: 1e10, gives: 5 },
  { name: "no number is no report", value: Number.NaN, gives: 5 },
  { name: "a text is no report", value: "7", gives: 5 },
])("$name", ({ value, gives }) => {
  expect(reportedCount(value, 5)).toBe(gives);
});
