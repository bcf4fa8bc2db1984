import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applySteps } from "../../../cli/contexts/apply";
import { inspect, writeLink } from "../../../cli/contexts/directory";
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

/** A name with a final `/` is an empty folder. */
async function fill(files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.join(here, name.endsWith("/") ? name : path.dirname(name)), {
      recursive: true,
    });
    if (!name.endsWith("/")) await writeFile(path.join(here, name), content);
  }
}

/**
 * All files in the folder, without the note of the last pull. Empty folders have the form that
 * `fill` accepts.
 */
async function filesHere(at = ""): Promise<Files> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(path.join(here, at))).sort()) {
    const file = path.posix.join(at, name);
    if (file === ".massgen-edge") continue;
    const isFolder = (await lstat(path.join(here, file))).isDirectory();
    const below = isFolder
      ? await filesHere(file)
      : { [file]: await readFile(path.join(here, file), "utf8") };
    Object.assign(
      found,
      isFolder && Object.keys(below).length === 0 ? { [`${file}/`]: "" } : below,
    );
  }
  return found;
}

async function pull(answers: Answers, ...args: string[]) {
  await using service = await Service.start({ events: [], answers });
  const ran = await runAt(
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
  return { ...ran, said: ran.screen.trimEnd() };
}
const refusal = (answers: Answers, ...args: string[]) =>
  pull(answers, ...args).then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
const sum = (what: string) => `site, turn 1 of ${SESSION}: ${what}`;

type Swap = {
  name: string;
  base: Files;
  turn: Record<string, string | null>;
  does: string;
  counts: [number, number];
  then: Files;
};

const SWAPS: Swap[] = [
  {
    name: "a file becomes a folder",
    base: { a: "old" },
    turn: { a: null, "a/x": "new" },
    does: "delete\ta\nwrite\ta/x\n",
    counts: [1, 1],
    then: { "a/x": "new" },
  },
  {
    name: "a file becomes a folder, listed in reverse order",
    base: { a: "old", "z.txt": "z" },
    turn: { "a/x/y": "new", "a/z": "new too", a: null, "z.txt": "better" },
    does: "write\ta/x/y\nwrite\ta/z\ndelete\ta\nwrite\tz.txt\n",
    counts: [3, 1],
    then: { "a/x/y": "new", "a/z": "new too", "z.txt": "better" },
  },
  {
    name: "a folder becomes a file",
    base: { "b/c": "old" },
    turn: { b: "new", "b/c": null },
    does: "write\tb\ndelete\tb/c\n",
    counts: [1, 1],
    then: { b: "new" },
  },
  {
    name: "a folder of folders becomes a file",
    base: { "b/c": "c", "b/d/e": "e", "b/d/f/g": "g", "keep/b": "k" },
    turn: { "b/c": null, "b/d/e": null, "b/d/f/g": null, b: "new" },
    does: "delete\tb/c\ndelete\tb/d/e\ndelete\tb/d/f/g\nwrite\tb\n",
    counts: [1, 3],
    then: { b: "new", "keep/b": "k" },
  },
  {
    name: "a folder and a file change places",
    base: { "b/c": "folder", d: "file" },
    turn: { b: "file", "b/c": null, d: null, "d/c": "folder" },
    does: "write\tb\ndelete\tb/c\ndelete\td\nwrite\td/c\n",
    counts: [2, 2],
    then: { b: "file", "d/c": "folder" },
  },
];

describe("if nothing was changed here, and there", () => {
  it.each(SWAPS)(
    "$name, there is no conflict, and nothing is written yet",
    async ({ base, turn, does, counts }) => {
      await fill(base);
      const [writes, deletes] = counts;
      for (const args of [[], ["--dry-run"]]) {
        const ran = await pull(withTurn(base, turn), ...args);
        expect([ran.code, ran.stdout]).toEqual([0, does]);
        expect(ran.said).toBe(
          sum(`${writes} to write, ${deletes} to delete, 0 conflicts. --apply does this.`),
        );
      }
      expect(await filesHere()).toEqual(base);
    },
  );

  it.each(SWAPS)(
    "$name, pull does the same here, and a second pull changes nothing",
    async ({ base, turn, does, counts, then }) => {
      await fill(base);
      const [writes, deletes] = counts;
      const ran = await pull(withTurn(base, turn), "--apply");
      expect([ran.code, ran.stdout, ran.said]).toEqual([
        0,
        does,
        sum(`${writes} written, ${deletes} deleted, 0 conflicts.`),
      ]);
      expect(await filesHere()).toEqual(then);
      const again = await pull(withTurn(base, turn));
      expect([again.code, again.stdout, again.said]).toEqual([0, "", sum("nothing to do.")]);
    },
  );

  it.each(SWAPS)("$name, pull of a newer version does the same", async ({ base, turn, then }) => {
    await fill(base);
    await using service = await Service.start({ events: [], answers: withVersions(base, then) });
    await writeLink(here, { server: service.url, name: "site", version: versionOf(0) });
    const run = () => runAt({ cwd: here }, "pull", "--server", service.url, "--apply");
    expect([(await run()).code, await filesHere(), (await run()).stdout]).toEqual([0, then, ""]);
    expect(Object.keys(turn).length).toBeGreaterThan(0);
  });

  it.each(SWAPS)("$name, git does the same with the patch", async ({ base, turn, then }) => {
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
    expect([patch.code, await filesHere()]).toEqual([0, lines(then)]);
  });
});

describe("an interrupted pull", () => {
  const [toFolder, toFile] = [SWAPS[1], SWAPS[3]];
  const rows = [
    {
      name: "the file deleted, none of the folder written",
      swap: toFolder,
      left: { "z.txt": "z" },
    },
    {
      name: "the folder created, without files",
      swap: toFolder,
      left: { "a/x/": "", "z.txt": "z" },
    },
    {
      name: "one file of the folder written",
      swap: toFolder,
      left: { "a/x/y": "new", "z.txt": "better" },
    },
    { name: "some of the folder deleted", swap: toFile, left: { "b/d/f/g": "g", "keep/b": "k" } },
    {
      name: "all files of the folder deleted, its folders left",
      swap: toFile,
      left: { "b/d/f/": "", "keep/b": "k" },
    },
    { name: "the folder deleted, the file not written", swap: toFile, left: { "keep/b": "k" } },
    { name: "all done, and not recorded", swap: toFile, left: { b: "new", "keep/b": "k" } },
  ];
  it.each(rows)("is continued: $name", async ({ swap, left }) => {
    await fill(left);
    const ran = await pull(withTurn(swap?.base ?? {}, swap?.turn ?? {}), "--apply");
    expect([ran.code, await filesHere()]).toEqual([0, swap?.then]);
  });

  it.each(SWAPS)(
    "is completed if contents could not be fetched at first: $name",
    async ({ base, turn, then }) => {
      await fill(base);
      const answers = withTurn(base, turn);
      const cut = Object.entries(answers).map(([key, value]) => [
        key,
        key.includes("/blobs/") ? { ...value, status: 404 } : value,
      ]);
      expect(await refusal(Object.fromEntries(cut), "--apply")).not.toBe("");
      expect([(await pull(answers, "--apply")).code, await filesHere()]).toEqual([0, then]);
    },
  );
});

describe("a local change is a conflict and is kept if the path becomes a file or a folder there:", () => {
  const [file, folder] = [SWAPS[0], SWAPS[3]];
  const DIRTY = "is a folder here";
  const rows = [
    {
      name: "the file that a folder replaces",
      swap: file,
      mine: { a: "mine" },
      conflicts: { a: "changed here, deleted there", "a/x": "a is a file here" },
      then: { a: "mine" },
    },
    {
      name: "a file of the folder",
      swap: folder,
      mine: { "b/d/e": "mine" },
      conflicts: { "b/d/e": "changed here, deleted there", b: DIRTY },
      then: { "b/d/e": "mine", "keep/b": "k" },
    },
    {
      name: "a file that was created in the folder",
      swap: folder,
      mine: { "b/d/mine": "m" },
      conflicts: { b: DIRTY },
      then: { "b/d/mine": "m", "keep/b": "k" },
    },
    {
      name: "an empty folder that was created in the folder",
      swap: folder,
      mine: { "b/mine/": "" },
      conflicts: { b: DIRTY },
      then: { "b/mine/": "", "keep/b": "k" },
    },
    {
      name: "a secret in the folder, deleted there",
      swap: {
        ...folder,
        base: { ...folder?.base, "b/.env": "KEY=1" },
        turn: { ...folder?.turn, "b/.env": null },
      },
      mine: {},
      conflicts: { b: DIRTY },
      then: { "b/.env": "KEY=1", "keep/b": "k" },
    },
  ];
  it.each(rows)("$name", async ({ swap, mine, conflicts, then }) => {
    const [base, turn] = [swap?.base ?? {}, swap?.turn ?? {}];
    await fill({ ...base, ...mine } as Files);
    const before = await filesHere();
    const pulled = async (...args: string[]) => {
      const { code, stdout } = await pull(withTurn(base, turn), ...args);
      const lines = stdout.split("\n").filter((line) => line.startsWith("conflict\t"));
      return [code, Object.fromEntries(lines.map((line) => line.split("\t").slice(1)))];
    };
    expect(await pulled()).toEqual([1, conflicts]);
    expect(await refusal(withTurn(base, turn), "--apply")).toContain("Nothing was written");
    expect(await filesHere()).toEqual(before);
    expect(await pulled("--apply", "--skip-conflicts")).toEqual([1, conflicts]);
    expect(await filesHere()).toEqual(then);
  });

  it("a link in the folder, and its target", async () => {
    const { base = {}, turn = {} } = folder ?? {};
    await fill({ ...base, "elsewhere/c": "c" });
    await symlink(path.join(here, "elsewhere"), path.join(here, "b/link"));
    const ran = await pull(withTurn(base, turn), "--apply", "--skip-conflicts");
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringContaining(`conflict\tb\t${DIRTY}\n`)]);
    expect(await readFile(path.join(here, "b/link/c"), "utf8")).toBe("c");
  });

  it("an empty folder that was not pushed", async () => {
    await fill({ "b/": "" });
    expect((await pull(withTurn({}, { b: "new" }))).stdout).toBe(`conflict\tb\t${DIRTY}\n`);
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
    { name: "before its files are deleted", at: "c" },
    { name: "before the new file is written", at: "new" },
  ])("a file created in the folder after the plan, $name", async ({ at }) => {
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
      if (hash === hashOf(Buffer.from(at))) await fill({ "b/mine": "m" });
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
