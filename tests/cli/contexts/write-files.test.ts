import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeWhole } from "../../../cli/contexts/write-files";

let here = "";
beforeEach(async () => {
  here = await mkdtemp(path.join(tmpdir(), "write-"));
});
afterEach(async () => {
  await rm(here, { recursive: true, force: true });
});

const ALL_BITS = 0o7777;
const octal = (mode: number) => (mode & ALL_BITS).toString(8);

describe("a file that is replaced as a whole", () => {
  const NEW = 0o666 & ~process.umask();
  const NEW_RUNS = 0o777 & ~process.umask();
  it.each([
    { name: "stays private to its owner", was: 0o600, executable: false, is: 0o600 },
    {
      name: "stays private to its owner when it is executable",
      was: 0o600,
      executable: true,
      is: 0o700,
    },
    { name: "is executable for those who can read it", was: 0o640, executable: true, is: 0o750 },
    { name: "stays writable for its group", was: 0o664, executable: false, is: 0o664 },
    { name: "stays executable for its owner only", was: 0o744, executable: true, is: 0o744 },
    { name: "is no longer executable", was: 0o755, executable: false, is: 0o644 },
    {
      name: "loses setuid and setgid",
      was: 0o4755,
      executable: true,
      is: 0o755,
    },
    { name: "has the default mode if it is new", was: null, executable: false, is: NEW },
    { name: "is executable if it is new and should be", was: null, executable: true, is: NEW_RUNS },
  ])("$name", async ({ was, executable, is }) => {
    const file = path.join(here, "deep/run.sh");
    if (was !== null) {
      await writeWhole(file, Buffer.from("old"), false);
      await chmod(file, was);
    }
    await writeWhole(file, Buffer.from("new"), executable);
    expect([
      octal((await stat(file)).mode),
      await readFile(file, "utf8"),
      await readdir(path.dirname(file)),
    ]).toEqual([octal(is), "new", ["run.sh"]]);
  });

  it("is not written in place of a folder, and leaves nothing behind", async () => {
    await writeFile(path.join(here, "a"), "file");
    await expect(writeWhole(here, Buffer.from("x"), false)).rejects.toThrow("Cannot write");
    expect(await readdir(here)).toEqual(["a"]);
  });
});
