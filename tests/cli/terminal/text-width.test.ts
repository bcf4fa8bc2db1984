import { describe, expect, it } from "vitest";
import { formatDuration, formatTokens, plural } from "../../../src/describe/figures";
import { paint, segment } from "../../../cli/terminal/output";
import { fitEnd, fitStart, padTo, widthOf } from "../../../cli/terminal/text-width";
import { formatUsd } from "../../../src/protocol/cost";

it.each([
  { text: "", width: 0 },
  { text: "plain", width: 5 },
  { text: "é", width: 1 },
  { text: "e\u0301", width: 1 },
  { text: "漢字", width: 4 },
  { text: "한글", width: 4 },
  { text: "ｆｕｌｌ", width: 8 },
  { text: "😀", width: 2 },
  { text: "👩‍👩‍👧", width: 2 },
  { text: "🇩🇪", width: 2 },
  { text: "❤️", width: 2 },
  { text: "→ …", width: 3 },
  { text: "a\u200bb", width: 2 },
])("$text takes $width columns", ({ text, width }) => {
  expect(widthOf(text)).toBe(width);
});

describe("fitting text into columns", () => {
  it.each([
    { text: "hello", columns: 5, start: "hello", end: "hello" },
    { text: "hello", columns: 4, start: "hel…", end: "…llo" },
    { text: "漢字漢字", columns: 5, start: "漢字…", end: "…漢字" },
    { text: "漢字漢字", columns: 4, start: "漢…", end: "…字" },
    { text: "hello", columns: 1, start: "…", end: "…" },
    { text: "hello", columns: 0, start: "", end: "" },
    { text: "a👩‍👩‍👧b", columns: 3, start: "a…", end: "…b" },
  ])("cuts $text to $columns columns", ({ text, columns, start, end }) => {
    expect([fitStart(text, columns), fitEnd(text, columns)]).toEqual([start, end]);
  });
  it("pads to columns, not characters", () => {
    expect(padTo("漢", 4)).toBe("漢  ");
  });
});

describe("paint", () => {
  const line = [segment("ab ", "bold"), segment("cdef", "good")];
  it.each([
    {
      name: "colours segments",
      width: 80,
      color: true,
      out: "\x1b[1mab \x1b[0m\x1b[32mcdef\x1b[0m",
    },
    { name: "omits colours", width: 80, color: false, out: "ab cdef" },
    {
      name: "cuts at the width and does not count colours",
      width: 5,
      color: true,
      out: "\x1b[1mab \x1b[0m\x1b[32mc…\x1b[0m",
    },
    { name: "shows nothing after a cut segment", width: 2, color: false, out: "a…" },
  ])("$name", ({ width, color, out }) => {
    expect(paint(line, { width, color })).toBe(out);
  });
});

it("paint shows nothing after a cut, even if a wide character left a column free", () => {
  expect(paint([segment("漢字漢"), segment("x")], { width: 4, color: false })).toBe("漢…");
});

it("numbers are readable", () => {
  expect([0, 9_999, 10_000, 123_456, 999_949, 999_950, 2_500_000].map(formatTokens)).toEqual([
    "0",
    "9,999",
    "10.0k",
    "123.5k",
    "999.9k",
    "1.0M",
    "2.5M",
  ]);
  expect([0, 0.00012, 0.5, 1, 12.345].map(formatUsd)).toEqual([
    "$0.0000",
    "$0.0001",
    "$0.5000",
    "$1.00",
    "$12.35",
  ]);
  expect([-5, 0, 59_999, 61_000, 3_661_000].map(formatDuration)).toEqual([
    "00:00",
    "00:00",
    "00:59",
    "01:01",
    "1:01:01",
  ]);
  expect([plural(1, "vote"), plural(2, "vote")]).toEqual(["1 vote", "2 votes"]);
});
