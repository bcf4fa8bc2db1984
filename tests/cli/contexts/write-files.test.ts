import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeWhole } from "../../../cli/contexts/write-files";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "write-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const ALL_BITS = 0o7777;
const octal = (mode: number) => (mode & ALL_BITS).toString(8);

describe("a file that is written atomically", () => {
  const NEW = 0o666 & ~process.umask();
  const NEW_EXECUTABLE = 0o777 & ~process.umask();
  it.each([
    { name: "stays private to its owner", oldMode: 0o600, executable: false, newMode: 0o600 },
    {
      name: "stays private to its owner if it becomes executable",
      oldMode: 0o600,
      executable: true,
      newMode: 0o700,
    },
    {
      name: "becomes executable for all users who can read it",
      oldMode: 0o640,
      executable: true,
      newMode: 0o750,
    },
    { name: "stays writable for its group", oldMode: 0o664, executable: false, newMode: 0o664 },
    {
      name: "stays executable for its owner only",
      oldMode: 0o744,
      executable: true,
      newMode: 0o744,
    },
    { name: "is no longer executable", oldMode: 0o755, executable: false, newMode: 0o644 },
    {
      name: "loses setuid and setgid",
      oldMode: 0o4755,
      executable: true,
      newMode: 0o755,
    },
    { name: "has the default mode if it is new", oldMode: null, executable: false, newMode: NEW },
    {
      name: "has the executable default mode if it is new and executable",
      oldMode: null,
      executable: true,
      newMode: NEW_EXECUTABLE,
    },
  ])("$name", async ({ oldMode, executable, newMode }) => {
    const file = path.join(folder, "deep/run.sh");
    if (oldMode !== null) {
      await writeWhole(file, Buffer.from("old"), false);
      await chmod(file, oldMode);
    }
    await writeWhole(file, Buffer.from("new"), executable);
    expect([
      octal((await stat(file)).mode),
      await readFile(file, "utf8"),
      await readdir(path.dirname(file)),
    ]).toEqual([octal(newMode), "new", ["run.sh"]]);
  });

  it("is not written if a folder is at its path, and no temporary file remains", async () => {
    await writeFile(path.join(folder, "a"), "file");
    await expect(writeWhole(folder, Buffer.from("x"), false)).rejects.toThrow("Cannot write");
    expect(await readdir(folder)).toEqual(["a"]);
  });
});
