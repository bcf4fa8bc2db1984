import { expect, it } from "vitest";
import { withKnownBits } from "../../../cli/contexts/executable-bits";

const local = (path: string, executable: boolean) => ({
  ...{ path, file: `/folder/${path}`, hash: "hash", size: 1 },
  executable,
});
const stored = (path: string, executable?: true) => ({
  ...{ path, sha256: "older", size: 1 },
  ...(executable ? { executable } : {}),
});
const bits = (files: readonly { path: string; executable: boolean }[]) =>
  Object.fromEntries(files.map(({ path, executable }) => [path, executable]));

const FILES = [local("run.sh", false), local("a.txt", true), local("new.sh", false)];
const VERSION = [stored("run.sh", true), stored("a.txt")];

it.each([
  {
    name: "on Windows, are those of the folder's version, because the disk has none",
    ...{ platform: "win32", version: VERSION },
    then: { "run.sh": true, "a.txt": false, "new.sh": false },
  },
  {
    name: "on Windows, are not set in a first version",
    ...{ platform: "win32", version: [] },
    then: { "run.sh": false, "a.txt": false, "new.sh": false },
  },
  {
    name: "on other systems, are those of the disk",
    ...{ platform: "linux", version: VERSION },
    then: { "run.sh": false, "a.txt": true, "new.sh": false },
  },
])("the executable bits of a push, $name", ({ platform, version, then }) => {
  expect(bits(withKnownBits(FILES, version, platform))).toEqual(then);
});
