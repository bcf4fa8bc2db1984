import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashOf } from "../../../cli/contexts/scan";
import { settledNote } from "../../../cli/files/saved-files";
import { bytesOf, type Files, ResultServer } from "./result-server";
import { saving, type Saving } from "./saving";

/** `files --save`: a folder of the user, and results that change. */

let root = "";
let server: ResultServer;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "save-"));
  server = await ResultServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

/** Steps of the user and of the run. `saves`: the exit code, and a part of the output. */
type Step =
  | { result: Files; session?: string }
  | { writes: Files }
  | { deletes: string }
  | { saves: number; says?: string; options?: Saving["options"] };

async function perform(steps: readonly Step[]): Promise<Files> {
  const folder = await mkdtemp(path.join(root, "out-"));
  let session = "session_1";
  for (const step of steps) {
    if ("result" in step) {
      server.files = step.result;
      session = step.session ?? session;
    } else if ("writes" in step) {
      for (const [file, content] of Object.entries(step.writes)) {
        await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
        await writeFile(path.join(folder, file), bytesOf(content));
      }
    } else if ("deletes" in step) await rm(path.join(folder, step.deletes), { recursive: true });
    else {
      const { code, output } = await saving(folder, { server, session, options: step.options });
      expect([code, output]).toEqual([step.saves, expect.stringContaining(step.says ?? "")]);
    }
  }
  return filesIn(folder);
}

async function filesIn(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(async (entry): Promise<[string, string]> => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(folder, file), await readFile(file, "latin1")];
  });
  const found = await Promise.all(read);
  return Object.fromEntries(found.filter(([file]) => !file.startsWith(".massgen-edge")));
}

const SKIP = { skipConflicts: true };

describe("files --save", () => {
  it.each<{ name: string; steps: Step[]; files: Files }>([
    {
      name: "writes the files of a result into a new folder",
      steps: [
        { result: { "a.txt": "1", "site/b.html": "\x00\xff" } },
        { saves: 0, says: "2 written" },
      ],
      files: { "a.txt": "1", "site/b.html": "\x00\xff" },
    },
    {
      name: "writes only what a later turn has changed, and deletes what it has deleted",
      steps: [
        { result: { a: "1", b: "1", c: "1" } },
        { saves: 0 },
        { result: { a: "2", b: "1" } },
        { saves: 0, says: "1 written, 1 deleted" },
      ],
      files: { a: "2", b: "1" },
    },
    {
      name: "keeps a file that the user changed and the run did not",
      steps: [{ result: { a: "1" } }, { saves: 0 }, { writes: { a: "mine" } }, { saves: 0 }],
      files: { a: "mine" },
    },
    {
      name: "remembers a file whose name is a key of every object",
      steps: [
        { result: { ["__proto__"]: "1" } },
        { saves: 0 },
        { result: { ["__proto__"]: "2" } },
        { saves: 0, says: "1 written" },
      ],
      files: { ["__proto__"]: "2" },
    },
    {
      name: "writes nothing if the user and the run changed one file",
      steps: [
        { result: { a: "1", b: "1" } },
        { saves: 0 },
        { writes: { a: "mine" } },
        { result: { a: "2", b: "2" } },
        { saves: 1, says: "conflict\ta\tchanged on both sides\n" },
      ],
      files: { a: "mine", b: "1" },
    },
    {
      name: "writes all other files with --skip-conflicts, and reports the conflict again",
      steps: [
        { result: { a: "1", b: "1" } },
        { saves: 0 },
        { writes: { a: "mine" } },
        { result: { a: "2", b: "2" } },
        { saves: 1, options: SKIP },
        { saves: 1, says: "conflict\ta" },
      ],
      files: { a: "mine", b: "2" },
    },
    {
      name: "does not replace a file that it did not write",
      steps: [
        { writes: { a: "mine" } },
        { result: { a: "1" } },
        { saves: 1, says: "made on both sides" },
      ],
      files: { a: "mine" },
    },
    {
      name: "does not delete a file that the user changed",
      steps: [
        { result: { a: "1", b: "1" } },
        { saves: 0 },
        { writes: { a: "mine" } },
        { result: { b: "1" } },
        { saves: 1, says: "changed here, deleted there" },
      ],
      files: { a: "mine", b: "1" },
    },
    {
      name: "does not bring back a file that the user deleted",
      steps: [{ result: { a: "1", b: "1" } }, { saves: 0 }, { deletes: "a" }, { saves: 0 }],
      files: { b: "1" },
    },
    {
      name: "replaces a file by a folder, if the run did so",
      steps: [{ result: { a: "1" } }, { saves: 0 }, { result: { "a/b": "1" } }, { saves: 0 }],
      files: { "a/b": "1" },
    },
    {
      name: "keeps files of another session, and replaces those that it wrote itself",
      steps: [
        { result: { a: "1", b: "1" } },
        { saves: 0 },
        { result: { a: "other" }, session: "session_2" },
        { saves: 0, says: "1 written" },
        { result: { c: "1" } },
        { saves: 0, says: "1 written, 1 deleted" },
      ],
      files: { b: "1", c: "1" },
    },
    {
      name: "writes settings of package managers only if the user includes them",
      steps: [
        { result: { ".npmrc": "registry=x", ".env": "A=1" } },
        { saves: 0, says: "left out, sets a package source: .npmrc" },
      ],
      files: { ".env": "A=1" },
    },
    {
      name: "writes included settings of package managers, with a warning",
      steps: [
        { result: { ".npmrc": "registry=x" } },
        { saves: 0, says: "warning: programs read", options: { include: [".npmrc"] } },
      ],
      files: { ".npmrc": "registry=x" },
    },
    {
      name: "writes no path that leads outside or that git could run",
      steps: [
        { result: { "../x": "1", ".git/hooks/pre-commit": "1", a: "1" } },
        { saves: 1, options: SKIP, says: "1 written, 2 conflicts" },
      ],
      files: { a: "1" },
    },
    {
      name: "writes nothing with --dry-run",
      steps: [{ result: { a: "1" } }, { saves: 0, says: "write\ta\n", options: { dryRun: true } }],
      files: {},
    },
  ])("$name", async ({ steps, files }) => {
    expect(await perform(steps)).toEqual(files);
  });

  it("follows no link out of the folder", async () => {
    const folder = await mkdtemp(path.join(root, "out-"));
    const outside = await mkdtemp(path.join(root, "outside-"));
    await symlink(outside, path.join(folder, "site"));
    server.files = { "site/a": "1" };
    const { code, output } = await saving(folder, { server, session: "session_1" });
    expect([code, await readdir(outside)]).toEqual([1, []]);
    expect(output).toContain("site is a link here");
  });

  it("requests many files as one zip", async () => {
    server.files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f/${n}`, `${n}`]));
    server.requests.length = 0;
    const folder = await mkdtemp(path.join(root, "out-"));
    await saving(folder, { server, session: "session_1" });
    expect(await filesIn(folder)).toEqual(server.files);
    expect(server.requests.filter((request) => request.endsWith(".zip"))).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });

  it("continues an interrupted save, and takes none of its files for the user's", async () => {
    const folder = await mkdtemp(path.join(root, "out-"));
    server.files = { a: "1", b: "1", c: "1", gone: "1" };
    await saving(folder, { server, session: "session_1" });
    server.files = { a: "2", b: "2", c: "2" };
    server.answersLeft = 2;
    expect((await saving(folder, { server, session: "session_1" })).code).not.toBe(0);
    server.answersLeft = null;
    expect(await filesIn(folder)).toEqual({ a: "2", b: "2", c: "1", gone: "1" });
    server.files = { a: "3", b: "3", c: "3" };
    expect((await saving(folder, { server, session: "session_1" })).code).toBe(0);
    expect(await filesIn(folder)).toEqual({ a: "3", b: "3", c: "3" });
  });
});

it("a save that was interrupted before it set an executable bit has not done it", async () => {
  const folder = await mkdtemp(path.join(root, "bits-"));
  const file = path.join(folder, "run.sh");
  await writeFile(file, "echo");
  const hash = hashOf(Buffer.from("echo"));
  const [plain, runnable] = [
    { hash, executable: false },
    { hash, executable: true },
  ];
  const note = {
    ...{ server: server.url, session: "session_1" },
    files: new Map([["run.sh", plain]]),
    pending: new Map([["run.sh", runnable]]),
  };
  const settled = async () => (await settledNote(folder, note)).files.get("run.sh");
  expect(await settled()).toEqual(plain);
  await chmod(file, 0o755);
  expect(await settled()).toEqual(runnable);
});
