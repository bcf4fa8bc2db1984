import { beforeAll, describe, expect, it } from "vitest";
import { SITUATION } from "./correct-run";
import { toStoredTrees, expectedFilesOf } from "./engine/expected-files";
import { OUTSIDE } from "./engine/invariants";
import { play } from "./engine/judge";
import type { RunRecord } from "./engine/run-record";

let run: RunRecord;
beforeAll(async () => {
  run = await play(SITUATION);
});

/** The invariants that a run violates. */
const violatedBy = (changedRun: RunRecord): string[] =>
  OUTSIDE.filter(([, check]) => check(changedRun).length > 0).map(([id]) => id);

it("the original run violates no invariant, and has files in R2", () => {
  expect(violatedBy(run)).toEqual([]);
  expect(Object.values(run.stored.trees).some((tree) => Object.keys(tree).length > 0)).toBe(true);
});

describe("the files in R2", () => {
  const anyFile = (trees: RunRecord["frozen"]): [string, string] => {
    for (const [name, tree] of Object.entries(trees))
      for (const path of Object.keys(tree)) return [name, path];
    throw new Error("the run has no files");
  };
  const withChangedTree = (
    change: (tree: Record<string, string>, path: string) => void,
  ): RunRecord => {
    const trees = structuredClone(run.stored.trees);
    const [name, path] = anyFile(trees);
    change(trees[name] ?? {}, path);
    return { ...run, stored: { ...run.stored, trees } };
  };
  const withoutSnapshot = (): RunRecord => {
    const [name] = anyFile(run.stored.trees);
    const { [name]: _, ...trees } = run.stored.trees;
    return { ...run, stored: { ...run.stored, trees } };
  };

  it.each([
    { name: "a snapshot is missing", corruption: withoutSnapshot },
    {
      name: "a file is missing",
      corruption: () => withChangedTree((tree, path) => delete tree[path]),
    },
    {
      name: "a file has other contents",
      corruption: () => withChangedTree((tree, path) => (tree[path] = "0 1")),
    },
    {
      name: "there is an additional file",
      corruption: () => withChangedTree((tree) => (tree["/workspace/other"] = "0 1")),
    },
    {
      name: "a file's contents are missing",
      corruption: () => ({ ...run, stored: { ...run.stored, problems: ["it does not exist"] } }),
    },
  ])("differ from the snapshots if $name", ({ corruption }) => {
    expect(violatedBy(corruption())).toEqual(["I10-stored"]);
  });

  it("differ from the agents' files if R2 and the API have the same wrong files", () => {
    const { stored } = withChangedTree((tree, path) => (tree[path] = "0 1"));
    expect(violatedBy({ ...run, stored, frozen: stored.trees })).toEqual(["I10-stored"]);
  });

  it("are the files after the agents' file operations, also for the presenter", async () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const { log, platform, stored } = await play({
        ...SITUATION,
        seed,
        habits: ["tools", "second_turn"],
      });
      const { trees, workspaces, problems } = expectedFilesOf(log, platform.providers.received);
      expect(problems).toEqual([]);
      expect(stored.trees).toEqual(toStoredTrees(trees));
      const calls = platform.providers.received.flatMap((one) => one.calls.map(({ name }) => name));
      for (const event of log) {
        if (event.type === "tool.completed" && event.outcome === "ok" && calls.includes(event.name))
          met.add(event.name);
        if (event.type === "answer.submitted" && event.snapshot !== event.label)
          met.add("an unchanged workspace");
        if (event.type === "answer.submitted" && event.left_out) met.add("something left out");
      }
      for (const [name, tree] of trees)
        if (name.endsWith(".final") && tree.size > 0) met.add("a final with files");
      if ([...workspaces.values()].some(({ files }) => files > 1)) met.add("several files");
    }
    const expectedMarks = [
      "write_file",
      "delete_file",
      "copy_file",
      "an unchanged workspace",
      "a final with files",
      "several files",
    ];
    expect([...met]).toEqual(expect.arrayContaining(expectedMarks));
  });
});
