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
import { mergeCaseVariants, caseVariantsIn } from "../../../cli/contexts/plan";
import { renameInCase } from "../../../cli/contexts/write-files";

const of = (hash: string): Side => ({ hash, executable: false });
const [A, B, C] = [of("a"), of("b"), of("c")];
const gone = (name: string, base: Side): Change => ({ path: name, base, theirs: null });
const made = (name: string, theirs: Side): Change => ({ path: name, base: null, theirs });
const kept = (name: string, side: Side): Change => ({ path: name, base: side, theirs: side });

describe("on a disk that ignores case, a file that is", () => {
  const RENAME = "rename README.md, which was Readme.md";
  const rows: { name: string; changes: Change[]; here: LocalEntry; does: string[] }[] = [
    {
      name: "renamed in case there, untouched here",
      changes: [made("README.md", A), gone("Readme.md", A)],
      here: A,
      does: [RENAME],
    },
    {
      name: "renamed in case there, changed here",
      changes: [made("README.md", A), gone("Readme.md", A)],
      here: C,
      does: [RENAME],
    },
    {
      name: "renamed in case and changed there, untouched here",
      changes: [made("README.md", B), gone("Readme.md", A)],
      here: A,
      does: [RENAME, "write README.md"],
    },
    {
      name: "renamed in case and changed there, changed here in the same way",
      changes: [made("README.md", B), gone("Readme.md", A)],
      here: B,
      does: [RENAME],
    },
    {
      name: "renamed in case and changed there, changed here differently",
      changes: [made("README.md", B), gone("Readme.md", A)],
      here: C,
      does: ["conflict README.md: changed on both sides"],
    },
    {
      name: "renamed in case there, a link here",
      changes: [made("README.md", A), gone("Readme.md", A)],
      here: { blocked: "is a link here" },
      does: ["conflict README.md: is a link here"],
    },
    {
      name: "the same here as a file that stays there",
      changes: [gone("Readme.md", A), kept("README.md", A)],
      here: A,
      does: [],
    },
    {
      name: "the same here as a file that was changed there",
      changes: [{ path: "README.md", base: A, theirs: B }, gone("Readme.md", C)],
      here: C,
      does: ["conflict README.md: changed on both sides"],
    },
    {
      name: "renamed in case there, of several names",
      changes: [made("README.md", A), gone("Readme.md", A), gone("readme.md", A)],
      here: A,
      does: [RENAME],
    },
    {
      name: "in a folder that was renamed in case there",
      changes: [gone("Docs/a.md", A), made("docs/a.md", A)],
      here: A,
      does: ["rename docs/a.md, which was Docs/a.md"],
    },
    {
      name: "deleted there with all of that name",
      changes: [gone("README.md", A), gone("Readme.md", A)],
      here: A,
      does: ["delete README.md", "delete Readme.md"],
    },
    {
      name: "of another name in more than case",
      changes: [gone("Readme.md", A), kept("Readme2.md", A)],
      here: A,
      does: ["delete Readme.md"],
    },
  ];
  it.each(rows)("$name", ({ changes, here, does }) => {
    const steps = planSteps(
      mergeCaseVariants(changes, caseVariantsIn(changes)).map((change) => ({ ...change, here })),
    );
    const said = steps.map((step) => {
      if (step.action === "rename") return `rename ${step.path}, which was ${step.was}`;
      return `${step.action} ${step.path}${step.action === "conflict" ? `: ${step.why}` : ""}`;
    });
    expect(said).toEqual(does);
  });

  it("renamed in case is two files on a disk with case, each handled separately", () => {
    const changes = [made("README.md", A), gone("Readme.md", A)];
    expect(mergeCaseVariants(changes, [])).toEqual(changes);
  });
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
    { one: "Readme.md", other: "README.md", is: true },
    { one: "two", other: "TWO", is: false },
    { one: "Readme.md", other: "readme.md", is: false },
    { one: "Docs/a.md", other: "docs/a.md", is: false },
    { one: "none", other: "NONE", is: false },
  ])("are the same file ($one, $other): $is", async ({ one, other, is }) => {
    expect(await isSameFile(here, one, other)).toBe(is);
  });

  it.each([
    { was: "Readme.md", is: "README.md", then: ["README.md"] },
    { was: "two", is: "Two", then: ["TWO", "Two"] },
    { was: "Only/a.md", is: "only/A.md", then: ["only", "only/A.md"] },
    { was: "none", is: "NONE", then: [] },
  ])("become the later one: $was is $is", async ({ was, is, then }) => {
    await renameInCase(here, was, is);
    const names = (await readdir(here, { recursive: true })).sort();
    const pair = is.toLowerCase().split("/")[0];
    expect(names.filter((name) => name.toLowerCase().split("/")[0] === pair)).toEqual(then);
    expect(names.filter((name) => name.startsWith("."))).toEqual([]);
  });
});
