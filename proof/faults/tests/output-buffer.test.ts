import { expect, it } from "vitest";
import { OutputBuffer } from "../output-buffer";

/** The buffer of a service's output is bounded, and lines with a key are not dropped. */
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
  { name: "that contain no key", lines: many("line") },
  { name: "that all contain a key", lines: many("key-") },
  {
    name: "of which one exceeds the limit",
    lines: ["x".repeat(5 * MOST), ...many("line")],
  },
])("keeps a bounded part of lines $name", ({ lines }) =>
  expect(keptOf(lines).length).toBeLessThan(1.5 * MOST),
);

it("drops all output when it is cleared, also lines with a key", () => {
  const all = new OutputBuffer({ mark: "key-", mostChars: MOST });
  for (const line of ["key-1", ...many("line")]) all.add(line);
  all.clear();
  all.add("new");
  expect(all.text).toBe("new\n");
});
