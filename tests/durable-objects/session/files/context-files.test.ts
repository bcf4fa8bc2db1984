import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PinnedContext } from "../../../../src/protocol/events";
import type { AgentFiles } from "../../../../src/workspace/agent-files";
import {
  answers,
  confirms,
  fails,
  rejects,
  says,
  tool,
  uses,
  votes,
} from "../../../coordination/builders";
import { World, type WorldOptions } from "../../../coordination/world";
import { FilesSession, Shelf } from "./files-session";

/** The user's contexts in a session's tables, under failures and restarts. */

const FILES = { "a.txt": "A", "b/c.txt": "C", "b/key.pem": "K", "big/x": "X" };
const PINS: PinnedContext[] = [
  { name: "site", version: "v1", permissions: { a: "write" } },
  { name: "docs", version: "v9", permissions: { a: "read" } },
];
const SETTINGS = {
  fileTools: true,
  shell: true,
  readBeforeDelete: true,
  contexts: [
    {
      name: "site",
      permission: "write" as const,
      protectedPaths: ["!key.pem"],
      teamProtectedPaths: ["*.pem"],
    },
  ],
};
const write = (path: string, text: string) => (files: AgentFiles) =>
  files.write(path, new TextEncoder().encode(text));
const read = (path: string) => async (files: AgentFiles) =>
  new TextDecoder().decode(await files.read(path));

let shelf: Shelf;
let world: World;
let session: FilesSession;

/** One agent that only presents, unless the rules say otherwise. */
function begin(options: WorldOptions = {}): void {
  shelf = new Shelf();
  shelf.put("v1", FILES);
  shelf.put("v9", { "d.md": "D" });
  const every = { workspace: true, tools: [tool("files", { idempotent: true })] };
  world = new World({
    agents: ["a"],
    every,
    rules: { skip_coordination: true },
    contexts: PINS,
    ...options,
  });
  world.ask();
  session = new FilesSession(world, shelf, SETTINGS);
}

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  begin();
});
afterEach(() => void vi.restoreAllMocks());

/** The presenter calls its tool once. */
async function uses1(work: (files: AgentFiles) => Promise<unknown>): Promise<unknown> {
  session.does("a", uses(["files"]));
  return session.tool("a", work);
}

const presents = () => session.does("a", says("Done."));

describe("a context file that is too large for a row", () => {
  it("stays readable when R2 rejects its copy, and a repeated copy is complete", async () => {
    const large = "L".repeat(1_100_000);
    begin();
    shelf.put("v1", { ...FILES, large });
    const copies = async (files: AgentFiles) =>
      files.copy("/contexts/site/large", "/workspace/mine");
    session.drawer.isDown = true;
    expect(await uses1(copies)).toMatchObject({ message: "R2 is away" });
    session.drawer.isDown = false;
    expect(
      await uses1(async (files) =>
        expect((await files.read("/contexts/site/large")).byteLength).toBe(large.length),
      ),
    ).toBe(null);
    expect(await uses1(copies)).toBe(null);
    expect([...session.drawer.objects.values()].map(({ byteLength }) => byteLength)).toEqual([
      large.length,
    ]);
    shelf.erase("v1");
    session.restart();
    expect(
      await uses1(async (files) => expect(await read("/workspace/mine")(files)).toBe(large)),
    ).toBe(null);
  });
});

describe("contents that R2 has lost", () => {
  it("are distinguished from an unreachable R2 and from a file that never existed", async () => {
    const large = "L".repeat(1_100_000);
    begin();
    await uses1(write("mine", large));
    presents();
    const [entry] = session.workspaces.frozen(1, null).tree;
    const asked = async () => session.workspaces.contents(entry?.hash ?? "");
    expect(await asked()).toMatchObject({ ok: true });
    session.drawer.objects.clear();
    expect(await asked()).toEqual({ ok: false, code: "contents_lost" });
    expect(await session.workspaces.contents("0".repeat(64))).toEqual({
      ok: false,
      code: "file_not_found",
    });
  });
});

describe("the presenter's changes", () => {
  it("are stored with its final text, against the pinned version", async () => {
    await uses1(write("/contexts/site/a.txt", "A2"));
    await uses1(async (files) => {
      await files.read("/contexts/site/big/x");
      files.remove("/contexts/site/big/x");
      await files.write("/contexts/site/new/n", new Uint8Array([65]));
    });
    expect(await session.changes()).toEqual([]);
    presents();
    expect(world.ending).toMatchObject({ type: "turn.completed" });
    expect(await session.changes()).toEqual([
      "site@v1 a.txt: A2",
      "site@v1 big/x: gone",
      "site@v1 new/n: A",
    ]);
  });

  it("are empty if every file has its original contents again", async () => {
    await uses1(write("/contexts/site/a.txt", "A2"));
    await uses1(write("/contexts/site/draft", "D"));
    await uses1(async (files) => {
      await files.write("/contexts/site/a.txt", new TextEncoder().encode("A"));
      files.remove("/contexts/site/draft");
    });
    presents();
    expect(await session.changes()).toEqual([]);
  });

  it("survive a process restart between any two calls, and the agent knows its own files again", async () => {
    await uses1(write("/contexts/site/a.txt", "A2"));
    session.restart();
    expect(
      await uses1(async (files) => files.move("/contexts/site/a.txt", "/contexts/site/b/a.txt")),
    ).toBeNull();
    session.restart();
    expect(await uses1(async (files) => files.remove("/contexts/site/b/a.txt"))).toBeNull();
    await uses1(write("/contexts/site/e", "E"));
    session.restart();
    presents();
    session.restart();
    expect(await session.changes()).toEqual(["site@v1 a.txt: gone", "site@v1 e: E"]);
  });

  it("of a failed call are dropped", async () => {
    const problem = await uses1(async (files) => {
      await files.write("/contexts/site/a.txt", new Uint8Array([66]));
      await files.write("/contexts/site/b/key.pem", new Uint8Array());
    });
    expect(problem).toMatchObject({ code: "protected" });
    presents();
    expect(await session.changes()).toEqual([]);
  });

  it("of a rejected attempt are dropped with it", async () => {
    begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } });
    await uses1(write("/contexts/site/a.txt", "first"));
    presents();
    expect(await session.changes()).toEqual(["site@v1 a.txt: first"]);
    session.does("a", rejects("wrong", "again"));
    expect(world.turn.attempt.number).toBe(2);
    await uses1(async (files) => expect(await read("/contexts/site/a.txt")(files)).toBe("A"));
    await uses1(write("/contexts/site/e", "second"));
    presents();
    expect(await session.changes()).toEqual(["site@v1 e: second"]);
  });

  it("are kept if its answer replaces a text that was cut off (D3)", async () => {
    begin({ rules: {} });
    session.does("a", answers("A"));
    session.does("a", votes("a"));
    await uses1(write("/contexts/site/a.txt", "A2"));
    await uses1(write("mine.txt", "M"));
    session.restart();
    session.does("a", says("cut", { stopReason: "length" }));
    expect(world.events("presentation.completed")).toMatchObject([
      {
        source: "answer",
        content: "A",
        fallback: "length",
        snapshot: "agent1.final",
        files: "workspace",
        changed_files: 2,
      },
    ]);
    expect(await session.changes()).toEqual(["site@v1 a.txt: A2"]);
    expect(session.workspaces.frozen(1, null).tree).toMatchObject([{ path: "mine.txt" }]);
  });

  it("are kept together with the answer's workspace if it changed nothing else (D3)", async () => {
    begin({ rules: {} });
    session.does("a", answers("A"));
    session.does("a", votes("a"));
    await uses1(write("/contexts/site/a.txt", "A2"));
    session.does("a", says(""));
    expect(world.events("presentation.completed")).toMatchObject([
      { source: "answer", fallback: "empty", files: "kept", changed_files: 1 },
    ]);
    expect(await session.changes()).toEqual(["site@v1 a.txt: A2"]);
  });

  it("are named if a single agent wrote nothing else (D3)", async () => {
    await uses1(write("/contexts/site/new/n", "N"));
    session.does("a", fails({ class: "quota", code: "quota" }));
    expect(world.ending).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining("`/contexts/site/new/n`"),
    });
    expect(await session.changes()).toEqual(["site@v1 new/n: N"]);
  });
});

describe("the pinned versions of a turn", () => {
  it("are released at its end, except the versions that its changes are based on", async () => {
    await uses1(write("/contexts/site/a.txt", "A2"));
    await session.releaseContexts();
    expect(session.released).toEqual([]);
    presents();
    await session.releaseContexts();
    expect(session.released).toEqual(["turn 1: all but site@v1"]);
  });

  it("are all released by a turn without changes, and by a turn whose changes are not available", async () => {
    presents();
    await session.releaseContexts();
    expect(session.released).toEqual(["turn 1: all but "]);
    begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } });
    await uses1(write("/contexts/site/a.txt", "A2"));
    presents();
    session.cancels();
    expect(await session.changes()).toEqual(["site@v1 a.txt: A2"]);
    await session.releaseContexts();
    expect(session.released).toEqual(["turn 1: all but "]);
  });
});

describe("while the team coordinates", () => {
  beforeEach(() => begin({ rules: {} }));

  it("contexts are read-only", async () => {
    session.does("a", uses(["files"]));
    expect(await session.tool("a", write("/contexts/site/a.txt", "A2"))).toMatchObject({
      code: "read_only",
    });
    session.does("a", uses(["files"]));
    expect(
      await session.tool("a", async (files) =>
        expect(await read("/contexts/site/a.txt")(files)).toBe("A"),
      ),
    ).toBeNull();
  });
});

describe("a file that an agent copied from a context", () => {
  it("belongs to the session even if the context is erased", async () => {
    await uses1(async (files) => files.copy("/contexts/site/b", "mine"));
    shelf.erase("v1");
    session.restart();
    await uses1(async (files) => expect(await read("mine/c.txt")(files)).toBe("C"));
    presents();
    const { tree } = session.workspaces.frozen(1, null);
    expect(tree.map(({ path }) => path)).toEqual(["mine/c.txt", "mine/key.pem"]);
  });

  it("is not written if it cannot be fetched, and the agent may try again", async () => {
    const copy = async (files: AgentFiles) => files.copy("/contexts/site/b", "mine");
    await uses1(async (files) => files.list("/contexts/site"));
    shelf.isDown = true;
    expect(await uses1(copy)).toMatchObject({ code: "context_unavailable" });
    shelf.isDown = false;
    expect(await uses1(copy)).toBeNull();
  });
});

describe("contents of contexts", () => {
  it("are read on demand, once", async () => {
    await uses1(async (files) => files.walk("/contexts", 10));
    expect(shelf.asked).toEqual([]);
    for (let time = 0; time < 3; time += 1)
      await uses1(async (files) => read("/contexts/site/a.txt")(files));
    expect(shelf.asked).toEqual(["A"]);
  });

  it("that are erased while the turn runs are missing, and the error names the reason", async () => {
    shelf.erase("v1");
    const problem = await uses1(read("/contexts/site/a.txt"));
    expect(problem).toMatchObject({
      code: "unknown_place",
      message: expect.stringContaining("There are /contexts/docs."),
    });
  });

  it("that are unreachable fail the tool, not the turn", async () => {
    shelf.isDown = true;
    expect(await uses1(read("/contexts/site/a.txt"))).toMatchObject({
      code: "context_unavailable",
    });
    shelf.isDown = false;
    expect(await uses1(read("/contexts/site/a.txt"))).toBeNull();
  });

  it("may grow to the upload limit, which is independent of the workspace limit", async () => {
    shelf.put(
      "v1",
      Object.fromEntries(Array.from({ length: 5_001 }, (_, nth) => [`f${nth}`, "x"])),
    );
    expect(await uses1(write("/contexts/site/one-more", "y"))).toBeNull();
    presents();
    expect(await session.changes()).toEqual(["site@v1 one-more: y"]);
  });
});

describe("the contents of a turn's changes to contexts", () => {
  const kept = ["site@v1 a.txt: A2"];

  it.each([
    {
      name: "stay as long as the session if the turn completed with them",
      ends: () => session.does("a", confirms),
      changes: kept,
    },
    {
      name: "are released if the turn was cancelled before they were confirmed",
      ends: () => session.cancels(),
      changes: ["site@v1 a.txt: gone"],
    },
  ])("$name", async ({ ends, changes }) => {
    begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } });
    await uses1(write("/contexts/site/a.txt", "A2"));
    presents();
    ends();
    await session.tidies();
    session.restart();
    expect(await session.changes()).toEqual(changes);
  });
});
