import { link, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isSameFile } from "../../../cli/contexts/directory";
import {
  type Change,
  type LocalEntry,
  planSteps,
  type Side,
} from "../../../cli/contexts/three-way";
import { caseGroupsIn, mergeCaseVariants, sameFilesIn } from "../../../cli/contexts/plan";
import { renameInCase } from "../../../cli/contexts/write-files";

const sideOf = (hash: string): Side => ({ hash, executable: false });
const [A, B, C] = [sideOf("a"), sideOf("b"), sideOf("c")];
const deletion = (name: string, base: Side): Change => ({ path: name, base, theirs: null });
const addition = (name: string, theirs: Side): Change => ({ path: name, base: null, theirs });
const unchanged = (name: string, side: Side): Change => ({ path: name, base: side, theirs: side });

describe("on a disk that ignores case, a file that is", () => {
  const RENAME = "rename README.md, which was Readme.md";
  const rows: { name: string; changes: Change[]; here: LocalEntry; expected: string[] }[] = [
    {
      name: "renamed in case there, untouched here",
      changes: [addition("README.md", A), deletion("Readme.md", A)],
      here: A,
      expected: [RENAME],
    },
    {
      name: "renamed in case there, changed here",
      changes: [addition("README.md", A), deletion("Readme.md", A)],
      here: C,
      expected: [RENAME],
    },
    {
      name: "renamed in case and changed there, untouched here",
      changes: [addition("README.md", B), deletion("Readme.md", A)],
      here: A,
      expected: [RENAME, "write README.md"],
    },
    {
      name: "renamed in case and changed there, changed here in the same way",
      changes: [addition("README.md", B), deletion("Readme.md", A)],
      here: B,
      expected: [RENAME],
    },
    {
      name: "renamed in case and changed there, changed here differently",
      changes: [addition("README.md", B), deletion("Readme.md", A)],
      here: C,
      expected: ["conflict README.md: changed on both sides"],
    },
    {
      name: "renamed in case there, a link here",
      changes: [addition("README.md", A), deletion("Readme.md", A)],
      here: { blocked: "is a link here" },
      expected: ["conflict README.md: is a link here"],
    },
    {
      name: "deleted there, while the same local file still exists there in other case",
      changes: [deletion("Readme.md", A), unchanged("README.md", A)],
      here: A,
      expected: [],
    },
    {
      name: "deleted there, while the same local file was changed there in other case",
      changes: [{ path: "README.md", base: A, theirs: B }, deletion("Readme.md", C)],
      here: C,
      expected: ["conflict README.md: changed on both sides"],
    },
    {
      name: "renamed in case there, and deleted there under a third name",
      changes: [addition("README.md", A), deletion("Readme.md", A), deletion("readme.md", A)],
      here: A,
      expected: [RENAME],
    },
    {
      name: "in a folder that was renamed in case there",
      changes: [deletion("Docs/a.md", A), addition("docs/a.md", A)],
      here: A,
      expected: ["rename docs/a.md, which was Docs/a.md"],
    },
    {
      name: "deleted there under several names",
      changes: [deletion("README.md", A), deletion("Readme.md", A)],
      here: A,
      expected: ["delete README.md", "delete Readme.md"],
    },
    {
      name: "deleted there, while a file with another name exists there",
      changes: [deletion("Readme.md", A), unchanged("Readme2.md", A)],
      here: A,
      expected: ["delete Readme.md"],
    },
  ];
  it.each(rows)("$name", ({ changes, here, expected }) => {
    const sameFiles = sameFilesIn(caseGroupsIn(changes), () => "the same file");
    const steps = planSteps(
      mergeCaseVariants(changes, sameFiles).map((change) => ({ ...change, here })),
    );
    const descriptions = steps.map((step) => {
      if (step.action === "rename") return `rename ${step.path}, which was ${step.was}`;
      return `${step.action} ${step.path}${step.action === "conflict" ? `: ${step.why}` : ""}`;
    });
    expect(descriptions).toEqual(expected);
  });

  it("renamed in case is two separate changes on a disk that distinguishes case", () => {
    const changes = [addition("README.md", A), deletion("Readme.md", A)];
    expect(mergeCaseVariants(changes, [])).toEqual(changes);
  });
});

it("many names that differ only in case take time linear in their number", () => {
  const names = Array.from({ length: 8_192 }, (_, bits) =>
    Array.from({ length: 13 }, (_, at) => ((bits >> at) & 1 ? "A" : "a")).join(""),
  );
  const changes = names.map((name, nth) => (nth % 2 ? deletion(name, A) : addition(name, A)));
  const started = performance.now();
  const sameFiles = sameFilesIn(caseGroupsIn(changes), () => "the same file");
  expect(sameFiles.length).toBe(4_096);
  expect(performance.now() - started).toBeLessThan(1_000);
});

describe("two names that differ in case", () => {
  let here = "";
  beforeEach(async () => {
    here = await mkdtemp(path.join(tmpdir(), "twins-"));
    for (const folder of ["Docs", "docs", "Only"]) await mkdir(path.join(here, folder));
    for (const name of ["Readme.md", "two", "TWO", "Docs/a.md", "Only/a.md"])
      await writeFile(path.join(here, name), name);
    // Two names of one file, like on a disk that ignores case.
    await link(path.join(here, "Readme.md"), path.join(here, "README.md"));
    await link(path.join(here, "Docs/a.md"), path.join(here, "docs/a.md"));
  });
  afterEach(() => rm(here, { recursive: true, force: true }));

  it.each([
    { first: "Readme.md", second: "README.md", isSame: true },
    { first: "two", second: "TWO", isSame: false },
    { first: "Readme.md", second: "readme.md", isSame: false },
    { first: "Docs/a.md", second: "docs/a.md", isSame: false },
    { first: "none", second: "NONE", isSame: false },
  ])("are the same file ($first, $second): $isSame", async ({ first, second, isSame }) => {
    expect(await isSameFile(here, first, second)).toBe(isSame);
  });

  it.each([
    { oldPath: "Readme.md", newPath: "README.md", expected: ["README.md"] },
    { oldPath: "two", newPath: "Two", expected: ["TWO", "Two"] },
    { oldPath: "Only/a.md", newPath: "only/A.md", expected: ["only", "only/A.md"] },
    { oldPath: "none", newPath: "NONE", expected: [] },
  ])("are renamed: $oldPath to $newPath", async ({ oldPath, newPath, expected }) => {
    await renameInCase(here, oldPath, newPath);
    const names = (await readdir(here, { recursive: true })).sort();
    const pair = newPath.toLowerCase().split("/")[0];
    expect(names.filter((name) => name.toLowerCase().split("/")[0] === pair)).toEqual(expected);
    expect(names.filter((name) => name.startsWith("."))).toEqual([]);
  });
});
