import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runAt } from "../commands/terminal";
import { ContractService, hashOfText } from "./contract-service";
import { LinkedFolder } from "./linked-folder";

/** A folder that is pushed to two contexts, here of two services, and two commands at once. */

const S = "session_01jdtest0000000000000000";
let first: ContractService;
let second: ContractService;
let folder: LinkedFolder;

beforeEach(async () => {
  first = await new ContractService().start();
  second = await new ContractService().start();
  folder = await LinkedFolder.create(first.url);
  await folder.edit({ "a.txt": "a", "b.txt": "b" });
  await folder.push();
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const atSecond = (...args: string[]) =>
  runAt({ cwd: folder.root }, ...args, "--server", second.url);
const turn = (service: ContractService, parent: number | null, changes: Record<string, string>) =>
  expect(
    service.ask(S, {
      parent,
      work: (tree) => {
        for (const [path, text] of Object.entries(changes)) tree.set(path, hashOfText(text));
      },
    }),
  ).toEqual([]);

describe("a folder that is pushed to another context", () => {
  it("keeps its note of the first context, whose newer version it does not replace", async () => {
    const { screen } = await atSecond("push", "--name", "site");
    expect(screen).toContain(
      `This folder was linked to site of ${first.url}. It is now linked to site of ${second.url}.`,
    );
    await using other = await LinkedFolder.create(first.url);
    await other.run("pull", "--name", "site", "--apply");
    await other.edit({ "a.txt": "theirs" });
    await other.push();
    await folder.edit({ "b.txt": "mine" });
    await expect(folder.push()).rejects.toThrow("context_changed");
    await folder.run("pull", "--apply");
    await folder.push();
    expect(await folder.files()).toEqual({ "a.txt": "theirs", "b.txt": "mine" });
  });

  it("is linked to the context of the last push, not to that of a pull", async () => {
    await atSecond("push", "--name", "site");
    await folder.push();
    turn(second, null, { "b.txt": "b1" });
    await atSecond("pull", "--name", "site", "--session", S, "--turn", "1", "--apply");
    await atSecond("pull", "--name", "site", "--apply");
    expect(await folder.note()).toMatchObject({ server: first.url, name: "site" });
    turn(second, 1, { "b.txt": "b2" });
    const next = await atSecond("pull", "--session", S, "--turn", "2", "--apply");
    expect([next.code, next.stdout]).toEqual([0, "write\tb.txt\n"]);
  });
});

describe("two commands at once in one folder", () => {
  it("a pull of a turn while a push is sent is noted, and is not part of the pushed version", async () => {
    turn(first, null, { "a.txt": "a1" });
    await folder.edit({ "b.txt": "mine" });
    first.beforePushAnswer = async () => {
      await folder.pull(S, 1, "--apply");
    };
    await folder.push();
    const [, pushed] = first.versions;
    expect(pushed?.includes).toEqual([]);
    expect(await folder.note()).toMatchObject({
      version: pushed?.id,
      includes: [{ session: S, turn: 1, since: pushed?.id }],
    });
  });

  it("a push while a pull runs makes the pull say that it is not noted", async () => {
    turn(first, null, { "a.txt": "a1" });
    await folder.edit({ "b.txt": "mine" });
    first.beforeContents = async () => {
      await folder.push();
    };
    await expect(folder.pull(S, 1, "--apply")).rejects.toThrow("Pull again");
    const again = await folder.pull(S, 1, "--apply");
    expect([again.code, again.stdout]).toEqual([0, ""]);
    expect(await folder.note()).toMatchObject({ includes: [{ session: S, turn: 1 }] });
  });
});
