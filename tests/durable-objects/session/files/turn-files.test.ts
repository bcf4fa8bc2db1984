import { beforeEach, describe, expect, it } from "vitest";
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
import { World } from "../../../coordination/world";
import { FilesSession, Shelf } from "./files-session";

/** Which files are a turn's result, and which files the next turn starts with. */

const SETTINGS = { fileTools: true, shell: true, readBeforeDelete: true, contexts: [] };
const remove = (path: string) => async (files: AgentFiles) => {
  await files.read(path);
  files.remove(path);
};
const write = (path: string) => (files: AgentFiles) =>
  files.write(path, new TextEncoder().encode(path));

let world: World;
let session: FilesSession;

function begin(rules: ConstructorParameters<typeof World>[0] = {}): void {
  const every = { workspace: true, tools: [tool("files", { idempotent: true })] };
  world = new World({ agents: ["a"], every, ...rules });
  session = new FilesSession(world, new Shelf(), SETTINGS);
  session.asks();
}

async function does(work: (files: AgentFiles) => Promise<unknown>): Promise<void> {
  session.does("a", uses(["files"]));
  expect(await session.tool("a", work)).toBeNull();
}

const presents = () => session.does("a", says("Done."));
const resultOf = (turn: number) =>
  session.workspaces.frozen(turn, null).tree.map(({ path }) => path);

/** Starts the next turn, and returns the paths in its agent's workspace. */
async function nextTurnFiles(): Promise<string[]> {
  const found: string[] = [];
  session.asks();
  await does(async (files) => void found.push(...(await files.walk("/workspace", 100)).paths));
  return found;
}

describe("a turn that may be presented twice", () => {
  beforeEach(() => begin({ rules: { skip_coordination: true, max_orchestration_restarts: 1 } }));

  it.each<{ name: string; then: () => void | Promise<void>; ends: string; result: string[] }>([
    {
      name: "has the files of its first presentation if that is confirmed",
      then: () => session.does("a", confirms),
      ends: "turn.completed",
      result: ["first"],
    },
    {
      name: "has the files of the second presentation if the first was rejected",
      then: async () => {
        session.does("a", rejects("wrong", "again"));
        await does(write("second"));
        presents();
      },
      ends: "turn.completed",
      result: ["second"],
    },
    {
      name: "has the files of the first presentation if the second failed; the final text is also the first",
      then: async () => {
        session.does("a", rejects("wrong", "again"));
        await does(write("second"));
        session.does("a", says("cut", { stopReason: "length" }));
      },
      ends: "turn.completed",
      result: ["first"],
    },
    {
      name: "has no files if it is cancelled after the first presentation was rejected",
      then: async () => {
        session.does("a", rejects("wrong", "again"));
        await does(write("second"));
        session.cancels();
      },
      ends: "turn.cancelled",
      result: [],
    },
    {
      name: "has no files if it is cancelled before the first presentation is confirmed",
      then: () => session.cancels(),
      ends: "turn.cancelled",
      result: [],
    },
  ])("$name; the next turn starts with the same files", async ({ then, ends, result }) => {
    await does(write("first"));
    presents();
    expect(resultOf(1)).toEqual([]); // the presentation is not confirmed yet
    await then();
    expect(world.ending).toMatchObject({ type: ends });
    expect(resultOf(1)).toEqual(result);
    session.restart();
    expect(resultOf(1)).toEqual(result);
    expect(await nextTurnFiles()).toEqual(result.map((path) => `/workspace/${path}`));
  });
});

describe("a single agent that writes files and then fails while it writes its text", () => {
  it("still has its files as the turn's result, and its partial text as the answer", async () => {
    begin();
    await does(write("half"));
    world.writing = { a: "Half an answer" };
    session.does("a", fails({ class: "bad_credentials", code: "invalid_key" }));
    expect(world.ending).toMatchObject({ type: "turn.completed", answer: "Half an answer" });
    expect(resultOf(1)).toEqual(["half"]);
    expect(await nextTurnFiles()).toEqual(["/workspace/half"]);
  });
});

describe("a presenter, which starts with the winner's files,", () => {
  beforeEach(async () => {
    begin();
    await does(write("answer"));
    session.does("a", answers("A"));
    session.does("a", votes("a"));
  });

  it.each<{
    name: string;
    does: (files: AgentFiles) => Promise<unknown>;
    result: string[];
    snapshot: string;
    files: string;
  }>([
    {
      name: "returns its own files if it changed them",
      does: async (files) => {
        await write("final")(files);
        await remove("answer")(files);
      },
      files: "workspace",
      result: ["final"],
      snapshot: "agent1.final",
    },
    {
      name: "returns no files if it deleted all of them",
      does: remove("answer"),
      files: "workspace_cleared",
      result: [],
      snapshot: "agent1.final",
    },
    {
      name: "returns the winner's files if it changed none of them",
      does: (files) => files.read("answer"),
      files: "kept",
      result: ["answer"],
      snapshot: "agent1.1",
    },
    {
      name: "returns its own files if it wrote the same bytes",
      does: write("answer"),
      files: "workspace",
      result: ["answer"],
      snapshot: "agent1.final",
    },
  ])("$name (D1)", async ({ does: work, files, result, snapshot }) => {
    await does(work);
    session.restart();
    session.does("a", says("Done."));
    expect(world.events("presentation.completed")).toMatchObject([
      { source: "presentation", snapshot, files },
    ]);
    expect(resultOf(1)).toEqual(result);
    const final = { attempt: 1, label: "agent1.final", snapshot: "agent1.final" };
    expect(session.workspaces.frozen(1, final).tree).toHaveLength(result.length);
    expect(await nextTurnFiles()).toEqual(result.map((path) => `/workspace/${path}`));
  });
});

describe("a final text over 256 KiB (long final)", () => {
  const text = `The beginning. ${"x".repeat(300 * 1024)} The end.`;
  /** A text that is too large for a row. */
  const huge = `${text}${"y".repeat(1_000_000)}`;

  it.each<{ name: string; text: string; before: string[]; kept: string }>([
    { name: "in final.txt", text, before: ["notes"], kept: "final.txt" },
    { name: "if there are no other files", text, before: [], kept: "final.txt" },
    {
      name: "under the next free name",
      text,
      before: ["final.txt", "final-2.txt"],
      kept: "final-3.txt",
    },
    {
      name: "under another name if a directory has its name",
      text,
      before: ["Final.txt/a"],
      kept: "final-2.txt",
    },
    { name: "in R2 if it is too large for a row", text: huge, before: [], kept: "final.txt" },
  ])(
    "is stored completely $name, and the next turn has it",
    async ({ text: final, before, kept }) => {
      begin({ rules: { skip_coordination: true } });
      for (const path of before) await does(write(path));
      session.restart();
      await session.says("a", final);
      expect(world.events("presentation.completed")).toMatchObject([
        { source: "presentation", text_file: kept, snapshot: "agent1.final", files: "workspace" },
      ]);
      session.restart();
      const { tree } = session.workspaces.frozen(1, null);
      expect(tree.map(({ path }) => path).toSorted()).toEqual([...before, kept].toSorted());
      const contents = await session.workspaces.contents(
        tree.find(({ path }) => path === kept)?.hash ?? "",
      );
      expect(contents.ok && new TextDecoder().decode(contents.bytes) === final).toBe(true);
      expect(await nextTurnFiles()).toContain(`/workspace/${kept}`);
    },
  );

  it("is stored together with the winner's files", async () => {
    begin();
    await does(write("answer"));
    session.does("a", answers("A"));
    session.does("a", votes("a"));
    await session.says("a", text);
    expect(resultOf(1).toSorted()).toEqual(["answer", "final.txt"]);
  });
});
