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

/** Starts a run that plays its first range and its last range. */
function playTwoRanges(): void {
  const progress = new Progress(file, RUN);
  progress.add(played(1));
  progress.add(played(5));
}

it("a run continues with the missing ranges, and with the range size with which it started", () => {
  playTwoRanges();
  const again = new Progress(file, { ...RUN, rangeSeeds: 3 });
  expect(again.rangeSeeds).toBe(2);
  expect(again.played).toEqual([played(1), played(5)]);
  expect([1, 3, 5].filter((from) => again.has({ from, to: from + 2 }))).toEqual([1, 5]);
});

it.each([
  { name: "in the middle", at: -9 },
  { name: "just before its line break", at: -1 },
])(
  "if the line of a range was cut $name, the range is played again and later lines are readable",
  ({ at }) => {
    playTwoRanges();
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

it("a range counts once if two processes played it, and ranges that do not fit the run are ignored", () => {
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
    message: "belongs to 6 seeds from 1 at commit 0123456789ab",
  },
  { name: "of other seeds", run: { from: 7 }, message: "Use another file, or delete this one" },
  {
    name: "with uncommitted changes",
    run: { commit: "0123456789ab, with changes" },
    message: "Commit first.",
  },
])("a run $name cannot continue from the file", ({ run, message }) => {
  playTwoRanges();
  const before = readFileSync(file, "utf8");
  expect(() => new Progress(file, { ...RUN, ...run })).toThrow(message);
  expect(readFileSync(file, "utf8")).toBe(before);
});

it("a file with other contents is not changed", () => {
  file = path.join(folder, "notes.txt");
  writeFileSync(file, "milk\neggs\n");
  expect(() => new Progress(file, RUN)).toThrow("contains other data");
  expect(readFileSync(file, "utf8")).toBe("milk\neggs\n");
});
