import { beforeEach, describe, expect, it } from "vitest";
import type { AgentFiles } from "../../../../src/workspace/agent-files";
import { says, tool, uses } from "../../../coordination/builders";
import { World } from "../../../coordination/world";
import { FilesSession, Shelf } from "./files-session";

/** What agents read below `/turns`, with real tables, several versions and restarts. */

const SETTINGS = {
  fileTools: true,
  shell: true,
  readBeforeDelete: false,
  contexts: [{ name: "site", permission: "write" as const, protectedPaths: [] }],
};
const encoder = new TextEncoder();
const decoder = new TextDecoder();

let shelf: Shelf;
let session: FilesSession;

beforeEach(() => {
  shelf = new Shelf();
  shelf.put("v1", { "index.html": "one", "style.css": "s" });
  const world = new World({
    agents: ["a"],
    every: { workspace: true, tools: [tool("files", { idempotent: true })] },
    rules: { skip_coordination: true },
    contexts: [{ name: "site", version: "v1", permissions: { a: "write" } }],
  });
  world.ask();
  session = new FilesSession(world, shelf, SETTINGS);
});

async function does(work: (files: AgentFiles) => Promise<unknown>): Promise<void> {
  session.does("a", uses(["files"]));
  expect(await session.tool("a", work)).toBeNull();
}

/** The agent writes these files, and ends the turn. `null`: it removes the file. */
async function presents(texts: Record<string, string | null>): Promise<void> {
  await does(async (files) => {
    for (const [path, text] of Object.entries(texts))
      if (text === null) files.remove(path);
      else await files.write(path, encoder.encode(text));
  });
  session.does("a", says("Done."));
}

/** The files that the agent sees below a directory. */
async function filesBelow(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  await does(async (files) => {
    for (const path of (await files.walk(directory, 1_000)).paths)
      found[path.slice(directory.length + 1)] = decoder.decode(await files.read(path));
  });
  return found;
}

describe("a later turn", () => {
  it("reads the result and the state of contexts of each turn that it continues", async () => {
    await presents({ "a.txt": "A1", "/contexts/site/index.html": "one!" });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A2", "b.txt": "B", "/contexts/site/style.css": null });
    session.restart();
    await session.continues(2, { site: "v1" });
    expect(await filesBelow("/turns")).toEqual({
      "turn_1/a.txt": "A1",
      "turn_1/contexts/site/index.html": "one!",
      "turn_1/contexts/site/style.css": "s",
      "turn_2/a.txt": "A2",
      "turn_2/b.txt": "B",
      "turn_2/contexts/site/index.html": "one!",
    });
    expect(await filesBelow("/workspace")).toEqual({ "a.txt": "A2", "b.txt": "B" });
  });

  it("sees the turns of its branch only", async () => {
    await presents({ "a.txt": "A1" });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A2" });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A3" });
    await session.continues(3, { site: "v1" });
    const results = await filesBelow("/turns");
    expect([results["turn_1/a.txt"], results["turn_3/a.txt"]]).toEqual(["A1", "A3"]);
    expect(Object.keys(results).filter((path) => path.startsWith("turn_2"))).toEqual([]);
    await does(async (files) => {
      await expect(files.read("/turns/turn_2/a.txt")).rejects.toMatchObject({
        code: "unknown_place",
      });
    });
  });

  it("sees what a turn without a result began with", async () => {
    await presents({ "a.txt": "A1", "/contexts/site/index.html": "one!" });
    await session.continues(1, { site: "v1" });
    await does((files) => files.write("a.txt", encoder.encode("lost")));
    session.cancels();
    await session.continues(2, { site: "v1" });
    expect(await filesBelow("/turns/turn_2")).toEqual({
      "a.txt": "A1",
      "contexts/site/index.html": "one!",
      "contexts/site/style.css": "s",
    });
  });

  it("sees no context that it may not read, also not as it was", async () => {
    await presents({ "/contexts/site/index.html": "one!" });
    await session.continues(1, {});
    await does(async (files) => {
      expect(await files.withTree("/turns/turn_1", () => files.list("/turns/turn_1"))).toEqual([]);
      await expect(files.read("/turns/turn_1/contexts/site/index.html")).rejects.toMatchObject({
        code: "unknown_place",
      });
    });
  });

  it("still has the file that it copied from an old version after the version was erased", async () => {
    await presents({});
    shelf.put("v2", { "index.html": "two" });
    await session.continues(1, { site: "v2" });
    await does(async (files) => {
      const from = "/turns/turn_1/contexts/site/style.css";
      await files.withTree(from, () => files.copy(from, "/workspace/old.css"));
    });
    shelf.erase("v1");
    session.restart();
    expect(await filesBelow("/workspace")).toEqual({ "old.css": "s" });
  });
});

describe("a conversation of 12 turns, in which the user pushes a version before each,", () => {
  const LAST = 12;
  beforeEach(async () => {
    for (let turn = 1; turn < LAST; turn++) {
      await presents({ "a.txt": `A${turn}` });
      shelf.put(`v${turn + 1}`, { "index.html": `user ${turn + 1}` });
      await session.continues(turn, { site: `v${turn + 1}` });
    }
  });

  it("loads a version only when it is read, and at most four stay open", async () => {
    shelf.opened.length = 0;
    await does((files) => files.read("/turns/turn_3/a.txt"));
    expect(shelf.opened.filter((version) => version !== "v12")).toEqual([]);
    const contextOf = (turn: number) => `/turns/turn_${turn}/contexts/site/index.html`;
    const readAll = (turns: readonly number[]) =>
      does(async (files) => {
        for (const turn of turns)
          expect(decoder.decode(await files.read(contextOf(turn)))).toMatch(/^(?:one|user)/);
      });
    await readAll([2, 3, 4, 5, 5, 4, 3, 2]);
    expect(shelf.opened.filter((version) => version !== "v12")).toEqual(["v2", "v3", "v4", "v5"]);
    await readAll([6, 2]);
    // The version that was used longest ago made room for the sixth.
    expect(shelf.opened.filter((version) => version !== "v12").slice(4)).toEqual(["v6"]);
    await readAll([5]);
    expect(shelf.opened.at(-1)).toBe("v5");
  });

  it("reads all turns at the same time, and every file is that of its turn", async () => {
    await does(async (files) => {
      const turns = Array.from({ length: LAST - 1 }, (_, index) => index + 1);
      const read = async (path: string) => decoder.decode(await files.read(path));
      expect(await Promise.all(turns.map((turn) => read(`/turns/turn_${turn}/a.txt`)))).toEqual(
        turns.map((turn) => `A${turn}`),
      );
      expect(
        await Promise.all(
          turns.map((turn) => read(`/turns/turn_${turn}/contexts/site/index.html`)),
        ),
      ).toEqual(turns.map((turn) => (turn === 1 ? "one" : `user ${turn}`)));
    });
  });

  it("opens a version once for all reads at the same time, and again after a failure", async () => {
    shelf.opened.length = 0;
    const contexts = [2, 3, 4].map((turn) => `/turns/turn_${turn}/contexts/site/index.html`);
    const reads = [...contexts, ...contexts, ...contexts];
    await does(async (files) => {
      shelf.isDown = true;
      const failed = await Promise.allSettled(reads.map((path) => files.read(path)));
      expect(failed.map(({ status }) => status)).toEqual(reads.map(() => "rejected"));
      shelf.isDown = false;
      const texts = await Promise.all(
        reads.map(async (path) => decoder.decode(await files.read(path))),
      );
      expect(texts.slice(0, 3)).toEqual(["user 2", "user 3", "user 4"]);
    });
    const opened = shelf.opened.filter((version) => version !== "v12");
    expect(opened.toSorted()).toEqual(["v2", "v3", "v4"]);
  });

  it("copies from more versions than stay open, and nothing is lost", async () => {
    await does(async (files) => {
      for (let turn = 2; turn < LAST; turn++) {
        const from = `/turns/turn_${turn}/contexts/site/index.html`;
        await files.withTree(from, () => files.copy(from, `/workspace/copies/${turn}`));
      }
    });
    session.restart();
    const expected = Array.from({ length: LAST - 2 }, (_, index) => index + 2);
    expect(await filesBelow("/workspace/copies")).toEqual(
      Object.fromEntries(expected.map((turn) => [`${turn}`, `user ${turn}`])),
    );
  });
});
