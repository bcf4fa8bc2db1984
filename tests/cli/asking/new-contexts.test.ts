import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shareFolders, toWithFolder } from "../../../cli/asking/shared-folders";
import { ioWithoutUser, runAt } from "../commands/terminal";
import { ContextsServer } from "./contexts-server";

let home = "";
let server: ContextsServer;
beforeEach(async () => {
  server = await ContextsServer.start();
  home = await realpath(await mkdtemp(path.join(tmpdir(), "new-contexts-")));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

/** Makes a folder with one file. */
async function folderAt(name: string): Promise<string> {
  const directory = path.join(home, name);
  await mkdir(directory, { recursive: true });
  await writeFile(path.join(directory, "a.txt"), name);
  return directory;
}

type Options = { text?: string; questions?: string[]; at?: ContextsServer };

/** Shares folders from the home folder. Returns the sharing and the text on stderr. */
async function share(
  given: readonly string[],
  { text, questions = [], at = server }: Options = {},
) {
  let printed = "";
  const io = {
    ...ioWithoutUser(home),
    stderr: {
      write: (part: string | Uint8Array) => {
        printed += String(part);
      },
    },
    confirm: async (question: string) => {
      questions.push(question);
      return true;
    },
  };
  const team = {
    request: text === undefined ? {} : { config_yaml: text },
    source: { name: "team.yaml", text: text ?? null },
    description: "team.yaml",
  };
  const requested = given.map(toWithFolder);
  return { ...(await shareFolders({ team, requested }, { server: at.url }, io)), printed };
}

describe("the context of a folder that is not linked", () => {
  it("never replaces the context of another folder with the same path on another computer", async () => {
    const first = await folderAt("work/site");
    await share([first]);
    const names: string[] = [];
    for (let computer = 0; computer < 2; computer += 1) {
      await rm(path.join(first, ".massgen-edge"), { recursive: true });
      const shared = await share([first]);
      names.push(...shared.contexts.map(({ name }) => name));
      expect(shared.printed).toContain("The context site exists and is not linked to this folder.");
    }
    expect(names).toEqual([
      expect.stringMatching(/^site-[0-9a-f]{6}$/),
      expect.stringMatching(/^site-[0-9a-f]{6}$/),
    ]);
    expect(names[0]).not.toBe(names[1]);
    expect(server.pushes.map(({ base }) => base)).toEqual([null, null, null]);
  });
});

describe("a folder that is shared at two services", () => {
  it("keeps its context at each of them", async () => {
    await using other = await ContextsServer.start();
    const folder = await folderAt("site");
    server.contexts.set("site", { id: "0".repeat(26), files: [] });
    const [first] = (await share([folder])).contexts;
    expect(first?.name).toMatch(/^site-/);
    expect((await share([folder], { at: other })).contexts).toEqual([
      { name: "site", permission: "read" },
    ]);
    expect((await share([folder])).contexts).toEqual([first]);
  });
});

describe("a folder whose context was erased", () => {
  it.each([
    { name: "by push", again: (folder: string) => ["push", folder] },
    { name: "by push --name", again: (folder: string) => ["push", folder, "--name", "site"] },
  ])("is pushed again $name, and the output says so", async ({ again }) => {
    const folder = await folderAt("site");
    const user = { cwd: home };
    await runAt(user, "push", folder, "--server", server.url);
    server.contexts.clear();
    await writeFile(path.join(folder, "a.txt"), "later");
    const pushed = await runAt(user, ...again(folder), "--server", server.url);
    expect([pushed.code, pushed.screen]).toEqual([
      0,
      expect.stringContaining("The context site was erased. This push creates it again."),
    ]);
    expect(server.pushes.at(-1)?.base).toBe(null);
    const note = JSON.parse(
      await readFile(path.join(folder, ".massgen-edge/context.json"), "utf8"),
    );
    expect(note.version).toBe(server.contexts.get("site")?.id);
  });

  it("is shared again by --with", async () => {
    const folder = await folderAt("site");
    await share([folder]);
    server.contexts.clear();
    const again = await share([folder]);
    expect(again.contexts).toEqual([{ name: "site", permission: "read" }]);
    expect(again.printed).toContain("The context site was erased.");
  });

  it("is refused as before if the context has a newer version", async () => {
    const folder = await folderAt("site");
    await share([folder]);
    server.contexts.set("site", { id: "9".repeat(26), files: [] });
    await expect(share([folder])).rejects.toThrow("409 context_changed");
    expect(server.contexts.get("site")?.id).toBe("9".repeat(26));
  });
});

describe("the consent to a path in a config", () => {
  it("shows the folder that a link in the path leads to, and belongs to that folder", async () => {
    await folderAt("secret/Work");
    await folderAt("other/Work");
    const repository = await folderAt("repository");
    await symlink(path.join(home, "secret"), path.join(repository, "docs"));
    const text = "orchestrator:\n  context_paths: [{path: repository/docs/Work}]\n";
    const questions: string[] = [];
    await share([], { text, questions });
    expect(questions).toEqual([
      expect.stringContaining(`  ${path.join(home, "secret/Work")} (read)\n`),
    ]);
    await rm(path.join(repository, "docs"));
    await symlink(path.join(home, "other"), path.join(repository, "docs"));
    await share([], { text, questions });
    expect(questions[1]).toContain(path.join(home, "other/Work"));
  });
});

describe("folders that cannot be shared together are refused before anything is sent", () => {
  it("one folder with two permissions", async () => {
    await folderAt("site");
    await expect(share(["./site", "site:write"])).rejects.toThrow(
      "--with names site twice. Name each folder once, such as --with site:write.",
    );
    expect(server.pushes).toEqual([]);
  });

  it("a link to a folder", async () => {
    await folderAt("site");
    await symlink(path.join(home, "site"), path.join(home, "link"));
    await expect(share(["./link"])).rejects.toThrow(
      "./link is a link. Name the folder that it leads to.",
    );
    expect(server.pushes).toEqual([]);
  });

  it("the whole disk", async () => {
    await expect(share(["/"])).rejects.toThrow(
      "/ is the whole disk. Name the folder of a project.",
    );
    expect(server.pushes).toEqual([]);
  });

  it("two folders that are linked to one context", async () => {
    const [one, other] = [await folderAt("one"), await folderAt("other")];
    const user = { cwd: home };
    await runAt(user, "push", one, "--name", "site", "--server", server.url);
    await mkdir(path.join(other, ".massgen-edge"), { recursive: true });
    const note = await readFile(path.join(one, ".massgen-edge/context.json"));
    await writeFile(path.join(other, ".massgen-edge/context.json"), note);
    const before = server.pushes.length;
    await expect(share(["./one", "./other"])).rejects.toThrow(
      "./one and ./other are linked to the same context, site. Share only one of them.",
    );
    expect(server.pushes).toHaveLength(before);
  });
});
