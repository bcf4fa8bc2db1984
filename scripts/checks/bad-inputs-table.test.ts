import { expect, it } from "vitest";
import { drawBadInputs } from "./bad-inputs-table";

it("prints one line for each input, in the order of the list", () => {
  const results = [
    { row: "B11", input: "after=x", answer: "400 bad_event_id", isRefused: true },
    { row: "A9", input: "no id", answer: "400 bad_id", isRefused: false },
    { row: "B2", input: "gzip", answer: "415 unsupported_media_type", isRefused: true },
  ];
  expect(
    drawBadInputs(results)
      .split("\n")
      .map((line) => line.trimEnd())
      .filter((line) => !/not tested/.test(line)),
  ).toEqual([
    "Bad inputs: 2 of 3 answered as stated, nothing written or sent",
    "  A9   no id    400 bad_id                        ✗",
    "  B2   gzip     415 unsupported_media_type        ✓",
    "  B11  after=x  400 bad_event_id                  ✓",
  ]);
});

it("prints the rows that need no test at the end", () => {
  const result = { row: "A9", input: "no id", answer: "400 bad_id", isRefused: true };
  const lines = drawBadInputs([result]).split("\n");
  expect(lines.at(-1)).toMatch(/^ {2}B20 +not tested: /);
});
