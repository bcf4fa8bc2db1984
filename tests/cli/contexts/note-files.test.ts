import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusalOf } from "../../../cli/contexts/directory";
import { readSavedFiles, writeSavedFiles } from "../../../cli/files/saved-files";
import { ContractService, hashOfText } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/** A project from someone else whose notes are links to those of another project. */

const S = "session_01jdtest0000000000000000";
let service: ContractService;
let mine: LinkedFolder;
let hostile: LinkedFolder;

beforeEach(async () => {
  service = await new ContractService().start();
  mine = await LinkedFolder.create(service.url);
  hostile = await LinkedFolder.create(service.url);
  await mine.edit({ "a.txt": "mine" });
  await mine.push();
  service.ask(S, { parent: null, work: (tree) => tree.set("a.txt", hashOfText("of the turn")) });
  await hostile.edit({ "a.txt": "hostile" });
});
afterEach(async () => {
  await mine[Symbol.asyncDispose]();
  await hostile[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const notesOf = (folder: LinkedFolder): string => path.join(folder.root, ".massgen-edge");

describe.each([
  {
    what: "the folder of the notes",
    makeLink: () => symlink(notesOf(mine), notesOf(hostile)),
  },
  {
    what: "the note",
    makeLink: async () => {
      await mkdir(notesOf(hostile));
      await symlink(
        path.join(notesOf(mine), "context.json"),
        path.join(notesOf(hostile), "context.json"),
      );
    },
  },
])("if $what is a link", ({ makeLink }) => {
  beforeEach(makeLink);

  it.each([
    { command: ["push"] },
    { command: ["push", "--name", "site", "--force"] },
    { command: ["pull", "--apply"] },
    { command: ["pull", "--session", S, "--turn", "1", "--apply", "--skip-conflicts"] },
  ])("$command is refused and changes nothing", async ({ command }) => {
    const before = await readFile(path.join(notesOf(mine), "context.json"), "utf8");
    await expect(hostile.run(...command)).rejects.toThrow(/is a link.*Remove the link/);
    expect(service.versions).toHaveLength(1);
    expect(await hostile.files()).toMatchObject({ "a.txt": "hostile" });
    expect(await readFile(path.join(notesOf(mine), "context.json"), "utf8")).toBe(before);
  });
});

it("the note of a save is neither read nor written through a link", async () => {
  const target = await mkdtemp(path.join(tmpdir(), "target-"));
  try {
    await writeFile(path.join(target, "files.json"), "{}");
    await symlink(target, notesOf(hostile));
    await expect(readSavedFiles(hostile.root)).rejects.toThrow(/is a link/);
    const note = { server: service.url, session: S, files: new Map() };
    await expect(writeSavedFiles(hostile.root, note)).rejects.toThrow(/is a link/);
    expect(await readdir(target)).toEqual(["files.json"]);
  } finally {
    await rm(target, { recursive: true });
  }
});

it.each(["MASSGE~1/context.json", "a/massge~12", ".massgen-edge/files.json", "GIT~1/config"])(
  "a file of the service is never written to %s",
  (file) => {
    expect(refusalOf(file)).toBe("could run programs on this machine");
  },
);
