import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { localPath } from "../../../cli/contexts/local-names";
import { ContractService, hashOfText } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/** Names of files in another Unicode form than NFC, on a disk that distinguishes the forms. */

const S = "session_01jdtest0000000000000000";
const decomposed = (name: string): string => name.normalize("NFD");

let disk = "";
beforeEach(async () => {
  disk = await mkdtemp(path.join(tmpdir(), "names-"));
});
afterEach(() => rm(disk, { recursive: true }));

/** Whether this machine's disk has both forms of a name as two files. */
async function distinguishesForms(): Promise<boolean> {
  await writeFile(path.join(disk, decomposed("ä")), "");
  await writeFile(path.join(disk, "ä"), "");
  const names = await readdir(disk);
  for (const name of names) await rm(path.join(disk, name));
  return names.length === 2;
}

it.each([
  { name: "of plain letters is itself", here: [], path: "a/b.txt", place: "a/b.txt" },
  { name: "that nothing here has is in NFC", here: [], path: "ä/ö.txt", place: "ä/ö.txt" },
  {
    name: "is the name in NFC if it exists",
    here: ["ä.txt", decomposed("ä.txt")],
    path: "ä.txt",
    place: "ä.txt",
  },
  {
    name: "is the name in the other form, if only this one exists",
    here: [decomposed("ä.txt")],
    path: "ä.txt",
    place: decomposed("ä.txt"),
  },
  {
    name: "of a new file is in a folder whose name has the other form",
    here: [`${decomposed("ö")}/b.txt`],
    path: "ö/ü.txt",
    place: `${decomposed("ö")}/ü.txt`,
  },
])("the place of a path $name", async ({ here, path: text, place }) => {
  if (!(await distinguishesForms())) return;
  for (const name of here) {
    await mkdir(path.dirname(path.join(disk, name)), { recursive: true });
    await writeFile(path.join(disk, name), "");
  }
  expect(await localPath(disk, text)).toBe(path.join(disk, place));
});

describe("a pull finds files whose names have another form", () => {
  let service: ContractService;
  let folder: LinkedFolder;
  beforeEach(async () => {
    service = await new ContractService().start();
    folder = await LinkedFolder.create(service.url);
    await folder.edit({ [decomposed("über.txt")]: "1", [decomposed("ö/ä.txt")]: "1", g: "1" });
    await folder.push();
  });
  afterEach(async () => {
    await folder[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  const turn = (work: (tree: Map<string, string>) => void): void => {
    expect(service.ask(S, { parent: null, work })).toEqual([]);
  };

  it("and changes, deletes and adds them", async () => {
    turn((tree) => {
      tree.set("über.txt", hashOfText("2"));
      tree.delete("ö/ä.txt");
      tree.set("ö/neu.txt", hashOfText("2"));
    });
    const pulled = await folder.pull(S, 1, "--apply");
    expect([pulled.code, pulled.stdout.includes("conflict")]).toEqual([0, false]);
    const named = Object.entries(await folder.files()).map(([name, text]) => [
      name.normalize("NFC"),
      text,
    ]);
    expect(Object.fromEntries(named)).toEqual({ g: "1", "ö/neu.txt": "2", "über.txt": "2" });
    expect((await folder.push()).stdout).toContain("is pushed");
    expect([...(service.versions.at(-1)?.tree.keys() ?? [])].sort()).toEqual([
      "g",
      "ö/neu.txt",
      "über.txt",
    ]);
  });

  it("and removes their empty folders", async () => {
    turn((tree) => {
      tree.delete("ö/ä.txt");
      tree.set("ö", hashOfText("a file now"));
    });
    expect((await folder.pull(S, 1, "--apply")).code).toBe(0);
    const named = Object.entries(await folder.files()).map(([name, text]) => [
      name.normalize("NFC"),
      text,
    ]);
    expect(Object.fromEntries(named)).toEqual({ g: "1", ö: "a file now", "über.txt": "1" });
  });

  it("and keeps those that the user changed", async () => {
    turn((tree) => tree.set("über.txt", hashOfText("2")));
    await folder.edit({ [decomposed("über.txt")]: "mine" });
    await expect(folder.pull(S, 1, "--apply")).rejects.toThrow("Nothing was written");
    expect(Object.values(await folder.files())).toContain("mine");
  });
});
