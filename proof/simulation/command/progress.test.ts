import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Progress, type Run } from "./progress";

const RUN: Run = { commit: "0123456789ab", from: 1, seeds: 6, rangeSeeds: 2 };
const played = (from: number) => ({
  ...{ from, to: from + 2, ms: 5, hashes: ["a", "b"] },
  counted: { pairs: [["turn.started garbage", 1]] as [string, number][], events: [], strikes: [] },
});

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "massgen-progress-"));
  file = path.join(folder, "new", "run.ndjson");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A run that has played its first and its last range. */
function begun(): void {
  const progress = new Progress(file, RUN);
  progress.add(played(1));
  progress.add(played(5));
}

it("a run continues with the missing ranges, in the range size of its start", () => {
  begun();
  const again = new Progress(file, { ...RUN, rangeSeeds: 3 });
  expect(again.rangeSeeds).toBe(2);
  expect(again.played).toEqual([played(1), played(5)]);
  expect([1, 3, 5].filter((from) => again.has({ from, to: from + 2 }))).toEqual([1, 5]);
});

it.each([
  { name: "in the middle", at: -9 },
  { name: "right before its end", at: -1 },
])(
  "a range whose line was cut off $name is played again, counts once, and later lines are kept",
  ({ at }) => {
    begun();
    writeFileSync(file, readFileSync(file, "utf8").slice(0, at));
    const again = new Progress(file, RUN);
    expect(again.played).toEqual([played(1)]);
    again.add(played(3));
    again.add(played(5));
    expect(new Progress(file, RUN).played.toSorted((a, b) => a.from - b.from)).toEqual([
      played(1),
      played(3),
      played(5),
    ]);
  },
);

it("ranges that two processes have both played count once, and lines of other ranges are ignored", () => {
  const [one, other] = [new Progress(file, RUN), new Progress(file, RUN)];
  one.add(played(1));
  other.add(played(1));
  other.add(played(2));
  one.add({ ...played(3), hashes: ["a"] });
  expect(new Progress(file, RUN).played).toEqual([played(1)]);
});

it.each([
  {
    name: "of another commit",
    run: { commit: "ba9876543210" },
    says: "belongs to 6 seeds from 1 at commit 0123456789ab",
  },
  { name: "of other seeds", run: { from: 7 }, says: "Use another file, or delete this one" },
  {
    name: "with uncommitted changes",
    run: { commit: "0123456789ab, with changes" },
    says: "Commit first.",
  },
])("a run $name does not continue from a file", ({ run, says }) => {
  begun();
  const before = readFileSync(file, "utf8");
  expect(() => new Progress(file, { ...RUN, ...run })).toThrow(says);
  expect(readFileSync(file, "utf8")).toBe(before);
});

it("a file with other contents is not changed", () => {
  file = path.join(folder, "notes.txt");
  writeFileSync(file, "milk\neggs\n");
  expect(() => new Progress(file, RUN)).toThrow("contains other data");
  expect(readFileSync(file, "utf8")).toBe("milk\neggs\n");
});
