import { beforeEach, describe, expect, it } from "vitest";
import type { AgentFiles } from "../../../../src/workspace/agent-files";
import { hashOf } from "../../../../src/workspace/snapshot";
import { fails, rejects, says, tool, uses } from "../../../coordination/builders";
import { World } from "../../../coordination/world";
import { FilesSession, Shelf } from "./files-session";

/** A project over several turns, with real tables and restarts. */

const V1 = { "a.txt": "A", "b.txt": "B", "dist/app.js": "old" };
const SETTINGS = {
  fileTools: true,
  shell: false,
  readBeforeDelete: false,
  contexts: [{ name: "site", permission: "write" as const, protectedPaths: [] }],
};
const hash = (text: string) => hashOf(new TextEncoder().encode(text));
const path = (name: string) => `/contexts/site/${name}`;

let shelf: Shelf;
let world: World;
let session: FilesSession;

beforeEach(() => {
  shelf = new Shelf();
  shelf.put("v1", V1);
  world = new World({
    agents: ["a"],
    every: { workspace: true, tools: [tool("files", { idempotent: true })] },
    rules: { skip_coordination: true },
    contexts: [{ name: "site", version: "v1", permissions: { a: "write" } }],
  });
  world.ask();
  session = new FilesSession(world, shelf, SETTINGS);
});

/** The presenter makes one tool call. */
async function does(work: (files: AgentFiles) => Promise<unknown>): Promise<void> {
  session.does("a", uses(["files"]));
  expect(await session.tool("a", work)).toBeNull();
}

type Edits = Record<string, string | null>;

/** The presenter writes and removes files of the context, and ends the turn. */
async function presents(edits: Edits): Promise<void> {
  await does(async (files) => {
    for (const [name, text] of Object.entries(edits))
      if (text === null) files.remove(path(name));
      else await files.write(path(name), new TextEncoder().encode(text));
  });
  session.does("a", says("Done."));
}

/** The files of the context that the agent sees now. */
async function seen(): Promise<Record<string, string>> {
  const found: [string, string][] = [];
  await does(async (files) => {
    for (const name of (await files.walk("/contexts/site", 100)).paths)
      found.push([name.slice(path("").length), new TextDecoder().decode(await files.read(name))]);
  });
  return Object.fromEntries(found);
}

describe("the next turn of a project", () => {
  it("starts from the files that its parent ended with, and stores the whole difference", async () => {
    await presents({ "a.txt": "A1", "new.txt": "N", "b.txt": null });
    shelf.asked.length = 0;
    session.restart();
    expect(await session.continues(1, { site: "v1" })).toMatchObject({ ok: true });
    expect(shelf.asked).toEqual([]);
    expect(await seen()).toEqual({ "a.txt": "A1", "dist/app.js": "old", "new.txt": "N" });
    await presents({ "new.txt": "N2" });
    expect(await session.endOf(2)).toEqual(["v1 a.txt: A1", "v1 b.txt: gone", "v1 new.txt: N2"]);
    expect(await session.endOf(1)).toEqual(["v1 a.txt: A1", "v1 b.txt: gone", "v1 new.txt: N"]);
  });

  it("has an empty difference if it restores every file", async () => {
    await presents({ "a.txt": "A1", "new.txt": "N", "b.txt": null });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A", "new.txt": null, "b.txt": "B" });
    expect(await session.endOf(2)).toEqual([]);
  });

  it("starts from the start of its parent if the parent has no result", async () => {
    await presents({ "a.txt": "A1" });
    await session.continues(1, { site: "v1" });
    await does(async (files) => files.write(path("a.txt"), new Uint8Array([65])));
    session.cancels();
    await session.continues(2, { site: "v1" });
    expect(await seen()).toMatchObject({ "a.txt": "A1" });
    session.does("a", says(""));
    session.restart();
    await session.continues(3, { site: "v1" });
    expect(await seen()).toMatchObject({ "a.txt": "A1" });
  });

  it("starts from another turn if it continues that turn", async () => {
    await presents({ "a.txt": "A1" });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A2" });
    await session.continues(1, { site: "v1" });
    expect(await seen()).toMatchObject({ "a.txt": "A1" });
  });

  it("begins each attempt with the files at its own start", async () => {
    world = new World({
      agents: ["a"],
      every: { workspace: true, tools: [tool("files", { idempotent: true })] },
      rules: { skip_coordination: true, max_orchestration_restarts: 1 },
      contexts: [{ name: "site", version: "v1", permissions: { a: "write" } }],
    });
    world.ask();
    session = new FilesSession(world, shelf, SETTINGS);
    await presents({ "a.txt": "A1" });
    session.does("a", rejects("wrong", "again"));
    await presents({ "a.txt": "A1b" });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A2", extra: "E" });
    session.does("a", rejects("wrong", "again"));
    expect(await seen()).toEqual({ ...V1, "a.txt": "A1b" });
    await does(async (files) =>
      expect(new TextDecoder().decode(await files.read("/attempts/1/contexts/site/a.txt"))).toBe(
        "A2",
      ),
    );
    await presents({ "b.txt": "B2" });
    expect(await session.endOf(2)).toEqual(["v1 a.txt: A1b", "v1 b.txt: B2"]);
  });

  it("continues from the last turn that used the context, if a turn between did not", async () => {
    await presents({ "a.txt": "A1" });
    await session.continues(1, {});
    session.does("a", says("Nothing to do."));
    await session.continues(2, { site: "v1" });
    expect(await seen()).toMatchObject({ "a.txt": "A1" });
  });

  it("keeps the contents of all its ancestors, and examines only new ones after each turn", async () => {
    await presents({ "a.txt": "0" });
    for (let turn = 1; turn < 10; turn += 1) {
      await session.continues(turn, { site: "v1" });
      await presents({ "a.txt": `${turn}`, [`file${turn}`]: `text ${turn}` });
      await session.tidies();
      expect(session.countDeletable()).toBe(0);
    }
    expect(await session.endOf(1)).toEqual(["v1 a.txt: 0"]);
    expect(await session.endOf(10)).toHaveLength(10);
    expect(await session.endOf(10)).not.toContainEqual(expect.stringContaining("gone"));
  });
});

describe("a turn after a push by the user", () => {
  it("merges the changes of both sides", async () => {
    await presents({ "a.txt": "A1" });
    shelf.put("v2", { ...V1, "b.txt": "B2" });
    expect(await session.continues(1, { site: "v2" })).toMatchObject({ ok: true });
    expect(await seen()).toEqual({ ...V1, "a.txt": "A1", "b.txt": "B2" });
    await presents({ "c.txt": "C" });
    expect(await session.endOf(2)).toEqual(["v2 a.txt: A1", "v2 c.txt: C"]);
  });

  it("is refused if both sides changed a file, and names both hashes", async () => {
    await presents({ "a.txt": "A1" });
    shelf.put("v2", { ...V1, "a.txt": "mine" });
    const turns = world.state.turns;
    expect(await session.continues(1, { site: "v2" })).toEqual({
      ok: false,
      code: "context_conflicts",
      conflicts: [
        { context: "site", path: "a.txt", turn: await hash("A1"), upload: await hash("mine") },
      ],
      more: 0,
    });
    expect(world.state.turns).toBe(turns);
  });

  it.each([
    { winner: "turn" as const, text: "A1", changes: ["v2 a.txt: A1"] },
    { winner: "upload" as const, text: "mine", changes: [] },
  ])("takes the side that the request names: $winner", async ({ winner, text, changes }) => {
    await presents({ "a.txt": "A1" });
    shelf.put("v2", { ...V1, "a.txt": "mine" });
    expect(await session.continues(1, { site: "v2" }, { winner })).toMatchObject({ ok: true });
    expect(await seen()).toMatchObject({ "a.txt": text });
    session.does("a", says("Done."));
    expect(await session.endOf(2)).toEqual(changes);
  });

  it("lists at most 1,000 conflicts, and the number of the others", async () => {
    const files = (text: string) =>
      Object.fromEntries(Array.from({ length: 1_003 }, (_, nth) => [`f${nth}`, text]));
    await presents(files("turn"));
    shelf.put("v2", { ...V1, ...files("user") });
    const refused = await session.continues(1, { site: "v2" });
    expect(refused).toMatchObject({ ok: false, more: 3 });
    expect(refused.ok ? 0 : refused.conflicts.length).toBe(1_000);
  });

  it("compares with the recorded turn: pulled and then edited files are no conflict", async () => {
    await presents({ "a.txt": "A1", "b.txt": "B1" });
    shelf.put("v2", { ...V1, "a.txt": "mine", "b.txt": "B1" });
    const entry = { session: "session_0123456789", turn: 1 };
    expect(await session.continues(1, { site: "v2" }, { entry })).toMatchObject({ ok: true });
    expect(await seen()).toEqual({ ...V1, "a.txt": "mine", "b.txt": "B1" });
    await presents({ "b.txt": "B2" });
    expect(await session.endOf(2)).toEqual(["v2 b.txt: B2"]);
  });

  it("compares with the parent's version again while the user has not pulled since", async () => {
    await presents({ "a.txt": "A1" });
    const entry = { session: "session_0123456789", turn: 1 };
    shelf.put("v2", { ...V1, "a.txt": "A1" });
    await session.continues(1, { site: "v2" }, { entry });
    await presents({ "b.txt": "B2" });
    shelf.put("v3", { ...V1, "a.txt": "mine" });
    expect(await session.continues(2, { site: "v3" }, { entry })).toMatchObject({ ok: true });
    expect(await seen()).toEqual({ ...V1, "a.txt": "mine", "b.txt": "B2" });
  });

  it("takes a path that the folder left out from the turn, also if only an older version stores it", async () => {
    await presents({ "a.txt": "A1" });
    shelf.put("v2", { "a.txt": "A1", "b.txt": "B2" });
    const entry = { session: "session_0123456789", turn: 1, left_out: ["dist/app.js"] };
    await session.continues(1, { site: "v2" }, { entry });
    session.restart();
    expect(await seen()).toEqual({ "a.txt": "A1", "b.txt": "B2", "dist/app.js": "old" });
    session.does("a", says("Done."));
    expect(await session.endOf(2)).toEqual(["v2 dist/app.js: old"]);
    await session.releaseContexts();
    expect(session.released.at(-1)).toBe("turn 2: all but site@v2, site@v1");
    await session.continues(2, { site: "v2" }, { entry });
    session.restart();
    expect(await seen()).toMatchObject({ "dist/app.js": "old" });
    await does(async (files) => files.copy(path("dist/app.js"), path("copy.js")));
    session.does("a", says("Done."));
    shelf.erase("v1");
    session.restart();
    expect(await session.endOf(3)).toEqual(["v2 copy.js: old", "v2 dist/app.js: old"]);
  });

  it("compares a skipped path with its older base", async () => {
    await presents({ "a.txt": "A1", "b.txt": "B1" });
    shelf.put("v2", { ...V1, "a.txt": "mine", "b.txt": "B1" });
    const entry = {
      session: "session_0123456789",
      turn: 1,
      bases: [{ path: "a.txt", sha256: await hash("A") }],
    };
    expect(await session.continues(1, { site: "v2" }, { entry })).toMatchObject({
      conflicts: [{ path: "a.txt" }],
    });
    shelf.put("v3", { ...V1, "b.txt": "B1" });
    expect(await session.continues(1, { site: "v3" }, { entry })).toMatchObject({ ok: true });
    expect(await seen()).toEqual({ ...V1, "a.txt": "A1", "b.txt": "B1" });
  });

  it("compares with a turn of another branch that the user pulled", async () => {
    await presents({ "a.txt": "A1" });
    await session.continues(1, { site: "v1" });
    await presents({ "a.txt": "A2" });
    shelf.put("v2", { ...V1, "a.txt": "A2", "b.txt": "mine" });
    const entry = { session: "session_0123456789", turn: 2 };
    expect(await session.continues(1, { site: "v2" }, { entry })).toMatchObject({ ok: true });
    expect(await seen()).toEqual({ ...V1, "a.txt": "A1", "b.txt": "mine" });
  });

  it("reports every file that differs if the version of its parent was erased", async () => {
    await presents({ "a.txt": "A1", "b.txt": "B1" });
    shelf.erase("v1");
    shelf.put("v2", { "a.txt": "A1", "b.txt": "mine", "c.txt": "C" });
    expect(await session.continues(1, { site: "v2" })).toMatchObject({
      conflicts: [{ path: "b.txt" }],
    });
    await session.continues(1, { site: "v2" }, { winner: "turn" });
    expect(await seen()).toEqual({ "a.txt": "A1", "b.txt": "B1", "c.txt": "C" });
  });

  it("ignores a recorded turn that does not exist", async () => {
    await presents({ "a.txt": "A1" });
    shelf.put("v2", { ...V1, "b.txt": "B2" });
    const entry = { session: "session_0123456789", turn: 17 };
    expect(await session.continues(1, { site: "v2" }, { entry })).toMatchObject({ ok: true });
    expect(await seen()).toEqual({ ...V1, "a.txt": "A1", "b.txt": "B2" });
  });
});

describe("a turn that failed", () => {
  it("ends with its start, which includes the merge", async () => {
    await presents({ "a.txt": "A1" });
    shelf.put("v2", { ...V1, "b.txt": "B2" });
    await session.continues(1, { site: "v2" });
    session.does("a", fails({ class: "quota", code: "quota" }));
    expect(world.ending).toMatchObject({ type: "turn.failed" });
    await session.continues(2, { site: "v2" });
    expect(await seen()).toEqual({ ...V1, "a.txt": "A1", "b.txt": "B2" });
  });
});
