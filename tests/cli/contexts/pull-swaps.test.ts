import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applySteps } from "../../../cli/contexts/apply";
import { inspect } from "../../../cli/contexts/directory";
import { writeNote } from "../../../cli/contexts/note";
import { hashOf } from "../../../cli/contexts/scan";
import { planSteps } from "../../../cli/contexts/three-way";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import { type Answers, type Files, versionOf, withTurn, withVersions } from "./offered";

let here = "";
beforeEach(async () => {
  here = await mkdtemp(path.join(tmpdir(), "swaps-"));
});
afterEach(() => rm(here, { recursive: true, force: true }));

/** Writes files. A name with a final `/` creates an empty folder. */
async function fill(files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.join(here, name.endsWith("/") ? name : path.dirname(name)), {
      recursive: true,
    });
    if (!name.endsWith("/")) await writeFile(path.join(here, name), content);
  }
}

/**
 * All files in the folder, except the link of the last pull. An empty folder has a name with a
 * final `/`, as in `fill`.
 */
async function filesHere(subfolder = ""): Promise<Files> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(path.join(here, subfolder))).sort()) {
    const file = path.posix.join(subfolder, name);
    if (file === ".massgen-edge") continue;
    const isFolder = (await lstat(path.join(here, file))).isDirectory();
    const inner = isFolder
      ? await filesHere(file)
      : { [file]: await readFile(path.join(here, file), "utf8") };
    Object.assign(
      found,
      isFolder && Object.keys(inner).length === 0 ? { [`${file}/`]: "" } : inner,
    );
  }
  return found;
}

async function pull(answers: Answers, ...args: string[]) {
  await using service = await Service.start({ events: [], answers });
  const pulled = await runAt(
    { cwd: here },
    "pull",
    "--server",
    service.url,
    "--session",
    SESSION,
    "--turn",
    "1",
    ...args,
  );
  return { ...pulled, screenText: pulled.screen.trimEnd() };
}
const refusal = (answers: Answers, ...args: string[]) =>
  pull(answers, ...args).then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
const summary = (text: string) => `site, turn 1 of ${SESSION}: ${text}`;

/** A change between a file and a folder. `counts`: the numbers of written and of deleted files. */
type Swap = {
  name: string;
  base: Files;
  turn: Record<string, string | null>;
  steps: string;
  counts: [number, number];
  result: Files;
};

const SWAPS: Swap[] = [
  {
    name: "a file becomes a folder",
    base: { a: "old" },
    turn: { a: null, "a/x": "new" },
    steps: "delete\ta\nwrite\ta/x\n",
    counts: [1, 1],
    result: { "a/x": "new" },
  },
  {
    name: "a file becomes a folder, listed in reverse order",
    base: { a: "old", "z.txt": "z" },
    turn: { "a/x/y": "new", "a/z": "new too", a: null, "z.txt": "better" },
    steps: "write\ta/x/y\nwrite\ta/z\ndelete\ta\nwrite\tz.txt\n",
    counts: [3, 1],
    result: { "a/x/y": "new", "a/z": "new too", "z.txt": "better" },
  },
  {
    name: "a folder becomes a file",
    base: { "b/c": "old" },
    turn: { b: "new", "b/c": null },
    steps: "write\tb\ndelete\tb/c\n",
    counts: [1, 1],
    result: { b: "new" },
  },
  {
    name: "a folder of folders becomes a file",
    base: { "b/c": "c", "b/d/e": "e", "b/d/f/g": "g", "keep/b": "k" },
    turn: { "b/c": null, "b/d/e": null, "b/d/f/g": null, b: "new" },
    steps: "delete\tb/c\ndelete\tb/d/e\ndelete\tb/d/f/g\nwrite\tb\n",
    counts: [1, 3],
    result: { b: "new", "keep/b": "k" },
  },
  {
    name: "a folder and a file change places",
    base: { "b/c": "folder", d: "file" },
    turn: { b: "file", "b/c": null, d: null, "d/c": "folder" },
    steps: "write\tb\ndelete\tb/c\ndelete\td\nwrite\td/c\n",
    counts: [2, 2],
    result: { b: "file", "d/c": "folder" },
  },
];

describe("pull without local changes", () => {
  it.each(SWAPS)(
    "$name: lists the steps without a conflict, and writes nothing",
    async ({ base, turn, steps, counts }) => {
      await fill(base);
      const [writes, deletes] = counts;
      for (const args of [[], ["--dry-run"]]) {
        const pulled = await pull(withTurn(base, turn), ...args);
        expect([pulled.code, pulled.stdout]).toEqual([0, steps]);
        expect(pulled.screenText).toBe(
          summary(`${writes} to write, ${deletes} to delete, 0 conflicts. --apply does this.`),
        );
      }
      expect(await filesHere()).toEqual(base);
    },
  );

  it.each(SWAPS)(
    "$name: --apply makes the same change here, and a second pull changes nothing",
    async ({ base, turn, steps, counts, result }) => {
      await fill(base);
      const [writes, deletes] = counts;
      const pulled = await pull(withTurn(base, turn), "--apply");
      expect([pulled.code, pulled.stdout, pulled.screenText]).toEqual([
        0,
        steps,
        summary(`${writes} written, ${deletes} deleted, 0 conflicts.`),
      ]);
      expect(await filesHere()).toEqual(result);
      const second = await pull(withTurn(base, turn));
      expect([second.code, second.stdout, second.screenText]).toEqual([
        0,
        "",
        summary("nothing to do."),
      ]);
    },
  );

  it.each(SWAPS)(
    "$name: a newer version makes the same change here",
    async ({ base, turn, result }) => {
      await fill(base);
      await using service = await Service.start({
        events: [],
        answers: withVersions(base, result),
      });
      await writeNote(here, { server: service.url, name: "site", version: versionOf(0) });
      const run = () => runAt({ cwd: here }, "pull", "--server", service.url, "--apply");
      expect([(await run()).code, await filesHere(), (await run()).stdout]).toEqual([
        0,
        result,
        "",
      ]);
      expect(Object.keys(turn).length).toBeGreaterThan(0);
    },
  );

  it.each(SWAPS)(
    "$name: git makes the same change with the patch",
    async ({ base, turn, result }) => {
      const lines = (files: Record<string, string | null>) =>
        Object.fromEntries(
          Object.entries(files).map(([file, text]) => [file, text === null ? null : `${text}\n`]),
        );
      await fill(lines(base) as Files);
      const patch = await pull(withTurn(lines(base) as Files, lines(turn)), "--patch");
      await writeFile(`${here}.patch`, patch.stdout);
      await promisify(execFile)("git", ["apply", `${here}.patch`], { cwd: here }).finally(() =>
        rm(`${here}.patch`),
      );
      expect([patch.code, await filesHere()]).toEqual([0, lines(result)]);
    },
  );
});

describe("an interrupted pull", () => {
  const [toFolder, toFile] = [SWAPS[1], SWAPS[3]];
  const rows = [
    {
      name: "after the file was deleted",
      swap: toFolder,
      leftover: { "z.txt": "z" },
    },
    {
      name: "after the folder was created without its files",
      swap: toFolder,
      leftover: { "a/x/": "", "z.txt": "z" },
    },
    {
      name: "after one file of the folder was written",
      swap: toFolder,
      leftover: { "a/x/y": "new", "z.txt": "better" },
    },
    {
      name: "after some files of the folder were deleted",
      swap: toFile,
      leftover: { "b/d/f/g": "g", "keep/b": "k" },
    },
    {
      name: "after all files of the folder were deleted, but not its folders",
      swap: toFile,
      leftover: { "b/d/f/": "", "keep/b": "k" },
    },
    { name: "after the folder was deleted", swap: toFile, leftover: { "keep/b": "k" } },
    {
      name: "after all steps, before the version was recorded",
      swap: toFile,
      leftover: { b: "new", "keep/b": "k" },
    },
  ];
  it.each(rows)("is continued by the next pull $name", async ({ swap, leftover }) => {
    await fill(leftover);
    const pulled = await pull(withTurn(swap?.base ?? {}, swap?.turn ?? {}), "--apply");
    expect([pulled.code, await filesHere()]).toEqual([0, swap?.result]);
  });

  it.each(SWAPS)(
    "is completed by the next pull if contents could not be fetched: $name",
    async ({ base, turn, result }) => {
      await fill(base);
      const answers = withTurn(base, turn);
      const cut = Object.entries(answers).map(([key, value]) => [
        key,
        key.includes("/blobs/") ? { ...value, status: 404 } : value,
      ]);
      expect(await refusal(Object.fromEntries(cut), "--apply")).not.toBe("");
      expect([(await pull(answers, "--apply")).code, await filesHere()]).toEqual([0, result]);
    },
  );
});

describe("a local change is a conflict and is kept if the path becomes a file or a folder there:", () => {
  const [file, folder] = [SWAPS[0], SWAPS[3]];
  const IS_FOLDER = "is a folder here";
  const rows = [
    {
      name: "the file that a folder replaces",
      swap: file,
      localChanges: { a: "mine" },
      conflicts: { a: "changed here, deleted there", "a/x": "a is a file here" },
      result: { a: "mine" },
    },
    {
      name: "a file of the folder",
      swap: folder,
      localChanges: { "b/d/e": "mine" },
      conflicts: { "b/d/e": "changed here, deleted there", b: IS_FOLDER },
      result: { "b/d/e": "mine", "keep/b": "k" },
    },
    {
      name: "a file that was created in the folder",
      swap: folder,
      localChanges: { "b/d/mine": "m" },
      conflicts: { b: IS_FOLDER },
      result: { "b/d/mine": "m", "keep/b": "k" },
    },
    {
      name: "an empty folder that was created in the folder",
      swap: folder,
      localChanges: { "b/mine/": "" },
      conflicts: { b: IS_FOLDER },
      result: { "b/mine/": "", "keep/b": "k" },
    },
    {
      name: "a secret in the folder, deleted there",
      swap: {
        ...folder,
        base: { ...folder?.base, "b/.env": "KEY=1" },
        turn: { ...folder?.turn, "b/.env": null },
      },
      localChanges: {},
      conflicts: { b: IS_FOLDER },
      result: { "b/.env": "KEY=1", "keep/b": "k" },
    },
  ];
  it.each(rows)("$name", async ({ swap, localChanges, conflicts, result }) => {
    const [base, turn] = [swap?.base ?? {}, swap?.turn ?? {}];
    await fill({ ...base, ...localChanges } as Files);
    const before = await filesHere();
    const conflictsOfPull = async (...args: string[]) => {
      const { code, stdout } = await pull(withTurn(base, turn), ...args);
      const lines = stdout.split("\n").filter((line) => line.startsWith("conflict\t"));
      return [code, Object.fromEntries(lines.map((line) => line.split("\t").slice(1)))];
    };
    expect(await conflictsOfPull()).toEqual([1, conflicts]);
    expect(await refusal(withTurn(base, turn), "--apply")).toContain("Nothing was written");
    expect(await filesHere()).toEqual(before);
    expect(await conflictsOfPull("--apply", "--skip-conflicts")).toEqual([1, conflicts]);
    expect(await filesHere()).toEqual(result);
  });

  it("a link in the folder, and its target", async () => {
    const { base = {}, turn = {} } = folder ?? {};
    await fill({ ...base, "elsewhere/c": "c" });
    await symlink(path.join(here, "elsewhere"), path.join(here, "b/link"));
    const pulled = await pull(withTurn(base, turn), "--apply", "--skip-conflicts");
    expect([pulled.code, pulled.stdout]).toEqual([
      1,
      expect.stringContaining(`conflict\tb\t${IS_FOLDER}\n`),
    ]);
    expect(await readFile(path.join(here, "b/link/c"), "utf8")).toBe("c");
  });

  it("an empty folder that was not pushed", async () => {
    await fill({ "b/": "" });
    expect((await pull(withTurn({}, { b: "new" }))).stdout).toBe(`conflict\tb\t${IS_FOLDER}\n`);
  });

  it("a moved file keeps its old name if its contents cannot be fetched", async () => {
    await fill({ a: "text" });
    const text = { hash: hashOf(Buffer.from("text")), executable: false };
    const steps = planSteps([
      { path: "a", base: text, theirs: null, here: await inspect(here, "a") },
      { path: "b", base: null, theirs: text, here: await inspect(here, "b") },
    ]);
    await expect(
      applySteps(here, steps, () => Promise.reject(new Error("no network"))),
    ).rejects.toThrow("no network");
    expect(await filesHere()).toEqual({ a: "text" });
  });

  it.each([
    { name: "before its files are deleted", fetchedText: "c" },
    { name: "before the new file is written", fetchedText: "new" },
  ])("a file that was created in the folder after the plan, $name", async ({ fetchedText }) => {
    const turn = { "a.txt": "c", "b/c": null, b: "new" };
    await fill({ "b/c": "old" });
    const sideOf = (text: string | null | undefined) =>
      text == null ? null : { hash: hashOf(Buffer.from(text)), executable: false };
    const triples = Object.entries(turn).map(async ([file, text]) => ({
      path: file,
      base: sideOf({ "b/c": "old" }[file]),
      theirs: sideOf(text),
      here: await inspect(here, file),
    }));
    const fetchContents = async (_: string, hash: string) => {
      if (hash === hashOf(Buffer.from(fetchedText))) await fill({ "b/mine": "m" });
      return Buffer.from(hash === hashOf(Buffer.from("new")) ? "new" : "c");
    };
    const steps = planSteps(await Promise.all(triples));
    expect(steps.map(({ action }) => action)).toEqual(["write", "delete", "write"]);
    await expect(applySteps(here, steps, fetchContents)).rejects.toThrow(
      "b was changed meanwhile and is kept",
    );
    expect(await filesHere()).toEqual({ "a.txt": "c", "b/mine": "m" });
  });
});
