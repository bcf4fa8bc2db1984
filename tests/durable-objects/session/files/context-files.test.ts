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

/** Agents that read and change the user's contexts, with real tables, failures and restarts. */

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

/** Starts a session with one agent, which by default only presents. */
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

/** Makes one tool call of the agent. Returns the error of the call; `null` if it succeeded. */
async function callTool(work: (files: AgentFiles) => Promise<unknown>): Promise<unknown> {
  session.does("a", uses(["files"]));
  return session.tool("a", work);
}

const presents = () => session.does("a", says("Done."));

describe("a context file that is too large for a row", () => {
  it("can still be read after R2 rejected a copy, and the next copy is complete", async () => {
    const large = "L".repeat(1_100_000);
    begin();
    shelf.put("v1", { ...FILES, large });
    const copyFile = async (files: AgentFiles) =>
      files.copy("/contexts/site/large", "/workspace/mine");
    session.drawer.isDown = true;
    expect(await callTool(copyFile)).toMatchObject({ message: "R2 is away" });
    session.drawer.isDown = false;
    expect(
      await callTool(async (files) =>
        expect((await files.read("/contexts/site/large")).byteLength).toBe(large.length),
      ),
    ).toBe(null);
    expect(await callTool(copyFile)).toBe(null);
    expect([...session.drawer.objects.values()].map(({ byteLength }) => byteLength)).toEqual([
      large.length,
    ]);
    shelf.erase("v1");
    session.restart();
    expect(
      await callTool(async (files) => expect(await read("/workspace/mine")(files)).toBe(large)),
    ).toBe(null);
  });
});

describe("contents that R2 has lost", () => {
  it("are reported with another code than a file that never existed", async () => {
    const large = "L".repeat(1_100_000);
    begin();
    await callTool(write("mine", large));
    presents();
    const [entry] = session.workspaces.frozen(1, null).tree;
    const readEntry = async () => session.workspaces.contents(entry?.hash ?? "");
    expect(await readEntry()).toMatchObject({ ok: true });
    session.drawer.objects.clear();
    expect(await readEntry()).toEqual({ ok: false, code: "contents_lost" });
    expect(await session.workspaces.contents("0".repeat(64))).toEqual({
      ok: false,
      code: "file_not_found",
    });
  });
});

describe("the presenter's changes", () => {
  it("are stored with its final text, against the pinned version", async () => {
    await callTool(write("/contexts/site/a.txt", "A2"));
    await callTool(async (files) => {
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
    await callTool(write("/contexts/site/a.txt", "A2"));
    await callTool(write("/contexts/site/draft", "D"));
    await callTool(async (files) => {
      await files.write("/contexts/site/a.txt", new TextEncoder().encode("A"));
      files.remove("/contexts/site/draft");
    });
    presents();
    expect(await session.changes()).toEqual([]);
  });

  it("are kept after restarts between calls, and the agent may still delete its own files", async () => {
    await callTool(write("/contexts/site/a.txt", "A2"));
    session.restart();
    expect(
      await callTool(async (files) => files.move("/contexts/site/a.txt", "/contexts/site/b/a.txt")),
    ).toBeNull();
    session.restart();
    expect(await callTool(async (files) => files.remove("/contexts/site/b/a.txt"))).toBeNull();
    await callTool(write("/contexts/site/e", "E"));
    session.restart();
    presents();
    session.restart();
    expect(await session.changes()).toEqual(["site@v1 a.txt: gone", "site@v1 e: E"]);
  });

  it("of a failed call are dropped", async () => {
    const problem = await callTool(async (files) => {
      await files.write("/contexts/site/a.txt", new Uint8Array([66]));
      await files.write("/contexts/site/b/key.pem", new Uint8Array());
    });
    expect(problem).toMatchObject({ code: "protected" });
    presents();
    expect(await session.changes()).toEqual([]);
  });

  it("of a rejected attempt are dropped with it", async () => {
    begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } });
    await callTool(write("/contexts/site/a.txt", "first"));
    presents();
    expect(await session.changes()).toEqual(["site@v1 a.txt: first"]);
    session.does("a", rejects("wrong", "again"));
    expect(world.turn.attempt.number).toBe(2);
    await callTool(async (files) => expect(await read("/contexts/site/a.txt")(files)).toBe("A"));
    await callTool(write("/contexts/site/e", "second"));
    presents();
    expect(await session.changes()).toEqual(["site@v1 e: second"]);
  });

  it("are kept if its answer replaces a final text that was cut off (D3)", async () => {
    begin({ rules: {} });
    session.does("a", answers("A"));
    session.does("a", votes("a"));
    await callTool(write("/contexts/site/a.txt", "A2"));
    await callTool(write("mine.txt", "M"));
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

  it("are kept together with the answer's files if it changed nothing else (D3)", async () => {
    begin({ rules: {} });
    session.does("a", answers("A"));
    session.does("a", votes("a"));
    await callTool(write("/contexts/site/a.txt", "A2"));
    session.does("a", says(""));
    expect(world.events("presentation.completed")).toMatchObject([
      { source: "answer", fallback: "empty", files: "kept", changed_files: 1 },
    ]);
    expect(await session.changes()).toEqual(["site@v1 a.txt: A2"]);
  });

  it("are named in the answer if a single agent failed before it wrote a text (D3)", async () => {
    await callTool(write("/contexts/site/new/n", "N"));
    session.does("a", fails({ class: "quota", code: "quota" }));
    expect(world.ending).toMatchObject({
      type: "turn.completed",
      answer: expect.stringContaining("`/contexts/site/new/n`"),
    });
    expect(await session.changes()).toEqual(["site@v1 new/n: N"]);
  });
});

describe("the pinned versions of a turn", () => {
  it("stay pinned after its end, and only pins of refused starts are released", async () => {
    await callTool(write("/contexts/site/a.txt", "A2"));
    await session.releaseContexts();
    expect(session.released).toEqual([]);
    presents();
    await session.releaseContexts();
    expect(session.released).toEqual(["turn 1: all but docs@v9, site@v1"]);
  });

  it("stay pinned after a turn without changes, and after a turn that was cancelled", async () => {
    presents();
    await session.releaseContexts();
    expect(session.released).toEqual(["turn 1: all but docs@v9, site@v1"]);
    begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } });
    await callTool(write("/contexts/site/a.txt", "A2"));
    presents();
    session.cancels();
    expect(await session.changes()).toEqual(["site@v1 a.txt: A2"]);
    await session.releaseContexts();
    expect(session.released).toEqual(["turn 1: all but docs@v9, site@v1"]);
  });
});

describe("contexts", () => {
  beforeEach(() => begin({ rules: {} }));

  it("are read-only while the team coordinates", async () => {
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
  it("can still be read after the context was erased", async () => {
    await callTool(async (files) => files.copy("/contexts/site/b", "mine"));
    shelf.erase("v1");
    session.restart();
    await callTool(async (files) => expect(await read("mine/c.txt")(files)).toBe("C"));
    presents();
    const { tree } = session.workspaces.frozen(1, null);
    expect(tree.map(({ path }) => path)).toEqual(["mine/c.txt", "mine/key.pem"]);
  });

  it("is not written if it cannot be fetched, and the agent may try again", async () => {
    const copy = async (files: AgentFiles) => files.copy("/contexts/site/b", "mine");
    await callTool(async (files) => files.list("/contexts/site"));
    shelf.isDown = true;
    expect(await callTool(copy)).toMatchObject({ code: "context_unavailable" });
    shelf.isDown = false;
    expect(await callTool(copy)).toBeNull();
  });
});

describe("contents of contexts", () => {
  it("are read only when they are needed, and only once", async () => {
    await callTool(async (files) => files.walk("/contexts", 10));
    expect(shelf.asked).toEqual([]);
    for (let time = 0; time < 3; time += 1)
      await callTool(async (files) => read("/contexts/site/a.txt")(files));
    expect(shelf.asked).toEqual(["A"]);
  });

  it("that are erased while the turn runs cannot be read, and the error names the other contexts", async () => {
    shelf.erase("v1");
    const problem = await callTool(read("/contexts/site/a.txt"));
    expect(problem).toMatchObject({
      code: "unknown_place",
      message: expect.stringContaining("There are /contexts/docs."),
    });
  });

  it("that cannot be reached make the tool call fail, but not the turn", async () => {
    shelf.isDown = true;
    expect(await callTool(read("/contexts/site/a.txt"))).toMatchObject({
      code: "context_unavailable",
    });
    shelf.isDown = false;
    expect(await callTool(read("/contexts/site/a.txt"))).toBeNull();
  });

  it("may have more files than a workspace, because the limit of uploads applies", async () => {
    shelf.put(
      "v1",
      Object.fromEntries(Array.from({ length: 5_001 }, (_, nth) => [`f${nth}`, "x"])),
    );
    expect(await callTool(write("/contexts/site/one-more", "y"))).toBeNull();
    presents();
    expect(await session.changes()).toEqual(["site@v1 one-more: y"]);
  });
});

describe("the contents of a turn's changes to contexts", () => {
  const kept = ["site@v1 a.txt: A2"];

  it.each([
    {
      name: "are kept as long as the session if the turn completed with them",
      ends: () => session.does("a", confirms),
      changes: kept,
    },
    {
      name: "are deleted if the turn was cancelled before its final text was confirmed",
      ends: () => session.cancels(),
      changes: ["site@v1 a.txt: gone"],
    },
  ])("$name", async ({ ends, changes }) => {
    begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } });
    await callTool(write("/contexts/site/a.txt", "A2"));
    presents();
    ends();
    await session.tidies();
    session.restart();
    expect(await session.changes()).toEqual(changes);
  });
});
