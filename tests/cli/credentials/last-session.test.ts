import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { forgetSession, lastSession, rememberSession } from "../../../cli/credentials/last-session";
import { lastSessionsFile } from "../../../cli/local-files";

const [HERE, THERE] = ["http://127.0.0.1:8787", "https://edge.example"];
let home = "";
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "home-"));
});
afterEach(() => rm(home, { recursive: true }));
const at = (cwd: string) => ({ home, cwd });

type Step =
  | { uses: string; in: string; server?: string }
  | { erases: string; in: string; server?: string };
async function perform(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    const server = step.server ?? HERE;
    if ("uses" in step) await rememberSession(server, step.uses, at(step.in));
    else await forgetSession(server, step.erases, at(step.in));
  }
}

describe("the last session", () => {
  it.each<{ name: string; steps: Step[]; in: string; last: string | null }>([
    { name: "is none before a session was used", steps: [], in: "/a", last: null },
    {
      name: "is the one that was used last in this folder",
      steps: [
        { uses: "s1", in: "/a" },
        { uses: "s2", in: "/b" },
      ],
      in: "/a",
      last: "s1",
    },
    {
      name: "is the one that this computer used last, in a folder without one",
      steps: [
        { uses: "s1", in: "/a" },
        { uses: "s2", in: "/b" },
      ],
      in: "/a/c",
      last: "s2",
    },
    {
      name: "is another one for another service",
      steps: [
        { uses: "s1", in: "/a" },
        { uses: "s2", in: "/a", server: THERE },
      ],
      in: "/a",
      last: "s1",
    },
    {
      name: "is no erased session",
      steps: [
        { uses: "s1", in: "/a" },
        { uses: "s2", in: "/b" },
        { erases: "s2", in: "/a" },
      ],
      in: "/b",
      last: "s1",
    },
    {
      name: "is none after the only session was erased",
      steps: [
        { uses: "s1", in: "/a" },
        { erases: "s1", in: "/b" },
      ],
      in: "/a",
      last: null,
    },
    {
      name: "is kept in a folder whose name is a word of JavaScript",
      steps: [{ uses: "s1", in: "__proto__" }],
      in: "__proto__",
      last: "s1",
    },
  ])("$name", async ({ steps, in: cwd, last }) => {
    await perform(steps);
    expect(await lastSession(HERE, at(cwd))).toBe(last);
  });

  it("is stored for the 200 folders that were used last", async () => {
    await perform(Array.from({ length: 201 }, (_, n) => ({ uses: `s${n}`, in: `/${n}` })));
    await perform([{ uses: "new", in: "/1" }]);
    const stored = JSON.parse(await readFile(lastSessionsFile(at("")), "utf8"));
    const folders = Object.keys(stored.servers[HERE].folders);
    expect([folders.length, folders.at(0), folders.at(-1)]).toEqual([200, "/2", "/1"]);
  });

  it("is in a file that only the owner can read, and no other file is left", async () => {
    await perform([{ uses: "s1", in: "/a" }]);
    const file = lastSessionsFile(at(""));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(path.dirname(file))).toEqual([path.basename(file)]);
  });

  it.each(["", "{", '{"servers": {"x": 1}}', "[]"])(
    "is none if the file has other contents: %s, and a new one replaces them",
    async (text) => {
      await mkdir(path.dirname(lastSessionsFile(at(""))), { recursive: true });
      await writeFile(lastSessionsFile(at("")), text);
      expect(await lastSession(HERE, at("/a"))).toBeNull();
      await perform([{ uses: "s1", in: "/a" }]);
      expect(await lastSession(HERE, at("/a"))).toBe("s1");
    },
  );

  it("is not stored, without an error, if the folder cannot be written", async () => {
    await writeFile(path.join(home, ".config"), "a file where the folder belongs");
    await perform([{ uses: "s1", in: "/a" }]);
    expect(await lastSession(HERE, at("/a"))).toBeNull();
  });
});
