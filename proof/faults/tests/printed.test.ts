import { expect, it } from "vitest";
import { Printed } from "../printed";

/** What is kept of all that a service prints is bounded, and no key that it printed is lost. */
const MOST = 1_000;
const printed = (lines: readonly string[]): string => {
  const all = new Printed({ mark: "key-", most: MOST });
  for (const line of lines) all.add(line);
  return all.text;
};
const many = (text: string): string[] => Array.from({ length: 500 }, (_, nth) => `${text} ${nth}`);

it.each([
  { name: "all of it, while it is little", lines: ["one", "key-1"], kept: "one\nkey-1\n" },
  {
    name: "a line with a key, however much came after it",
    lines: ["one key-1", ...many("line")],
    kept: "one key-1\nline ",
  },
  {
    name: "the last line, whatever came before it",
    lines: [...many("line"), "last"],
    kept: "\nlast\n",
  },
])("of what was printed is kept $name", ({ lines, kept }) =>
  expect(printed(lines)).toContain(kept),
);

it.each([
  { name: "without a key", lines: many("line") },
  { name: "with a key in each", lines: many("key-") },
  {
    name: "one of which is longer than all may be",
    lines: ["x".repeat(5 * MOST), ...many("line")],
  },
])("of lines $name no more is kept than may be", ({ lines }) =>
  expect(printed(lines).length).toBeLessThan(1.5 * MOST),
);

it("what was forgotten is gone, with its keys", () => {
  const all = new Printed({ mark: "key-", most: MOST });
  for (const line of ["key-1", ...many("line")]) all.add(line);
  all.forget();
  all.add("new");
  expect(all.text).toBe("new\n");
});
