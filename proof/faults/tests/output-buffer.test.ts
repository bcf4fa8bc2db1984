import { expect, it } from "vitest";
import { OutputBuffer } from "../output-buffer";

/** The kept output of a service is bounded, and no key in it is lost. */
const MOST = 1_000;
const keptOf = (lines: readonly string[]): string => {
  const all = new OutputBuffer({ mark: "key-", mostChars: MOST });
  for (const line of lines) all.add(line);
  return all.text;
};
const many = (text: string): string[] => Array.from({ length: 500 }, (_, nth) => `${text} ${nth}`);

it.each([
  { name: "everything, while the output is short", lines: ["one", "key-1"], kept: "one\nkey-1\n" },
  {
    name: "a line with a key, also after much more output",
    lines: ["one key-1", ...many("line")],
    kept: "one key-1\nline ",
  },
  {
    name: "the last line, also after much output",
    lines: [...many("line"), "last"],
    kept: "\nlast\n",
  },
])("keeps $name", ({ lines, kept }) => expect(keptOf(lines)).toContain(kept));

it.each([
  { name: "without a key", lines: many("line") },
  { name: "with a key in each", lines: many("key-") },
  {
    name: "one of which exceeds the limit",
    lines: ["x".repeat(5 * MOST), ...many("line")],
  },
])("of lines $name keeps no more than the limit", ({ lines }) =>
  expect(keptOf(lines).length).toBeLessThan(1.5 * MOST),
);

it("cleared output is gone, with its keys", () => {
  const all = new OutputBuffer({ mark: "key-", mostChars: MOST });
  for (const line of ["key-1", ...many("line")]) all.add(line);
  all.clear();
  all.add("new");
  expect(all.text).toBe("new\n");
});
