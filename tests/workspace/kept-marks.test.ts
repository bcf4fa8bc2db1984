import { expect, it } from "vitest";
import type { AgentFiles } from "../../src/workspace/agent-files";
import { StagedFiles } from "../../src/workspace/staged-files";
import { KeptFiles } from "./kept-files";

const PLACE = { turn: 2, attempt: 1, agent: 0, round: 1 };

/** The agent's files at the start of its next call, from the stored session. */
function openOn(kept: KeptFiles): StagedFiles {
  const site = { tree: kept.context(PLACE, "site"), writable: true, protectedPaths: [] };
  return new StagedFiles({
    workspace: kept.workspace(PLACE),
    peers: new Map(),
    contexts: new Map([["site", site]]),
    blobs: kept.source,
    ...kept.marks(PLACE),
    readBeforeDelete: true,
    limits: { fileBytes: 100, files: 10, treeBytes: 1_000 },
  });
}

it.each([
  {
    history: "moved unread",
    act: async (files: AgentFiles) => files.move("b", "new"),
    path: "new",
    mayDelete: false,
  },
  { history: "moved unread twice", act: moveTwice, path: "new", mayDelete: false },
  {
    history: "read and moved into a context",
    act: readAndHandIn,
    path: "/contexts/site/new",
    mayDelete: true,
  },
  {
    history: "moved unread within a context",
    act: async (files: AgentFiles) => files.move("/contexts/site/a", "/contexts/site/new"),
    path: "/contexts/site/new",
    mayDelete: false,
  },
  { history: "read and moved", act: readAndMove, path: "new", mayDelete: true },
  { history: "moved unread and read afterwards", act: moveAndRead, path: "new", mayDelete: true },
  { history: "moved unread and overwritten", act: moveAndWrite, path: "new", mayDelete: true },
  {
    history: "written with equal contents",
    act: async (files: AgentFiles) => files.write("b", new TextEncoder().encode("text")),
    path: "b",
    mayDelete: true,
  },
  {
    history: "copied",
    act: async (files: AgentFiles) => files.copy("b", "new"),
    path: "new",
    mayDelete: true,
  },
])(
  "whether the next call may delete a file that was $history: $mayDelete",
  async ({ act, path, mayDelete }) => {
    for (const restarts of [false, true]) {
      const kept = await KeptFiles.begin({ b: "text" }, { site: { a: "page" } });
      const files = openOn(kept);
      await act(files);
      kept.settle(PLACE, files.staged(), ["site"], "settled");
      if (restarts) kept.restart();
      const remove = () => openOn(kept).remove(path);
      if (mayDelete) expect(remove).not.toThrow();
      else expect(remove).toThrow("You have not read");
      kept.close();
    }
  },
);

async function moveTwice(files: AgentFiles): Promise<void> {
  files.move("b", "between");
  files.move("between", "new");
}

async function readAndMove(files: AgentFiles): Promise<void> {
  await files.read("b");
  files.move("b", "new");
}

async function readAndHandIn(files: AgentFiles): Promise<void> {
  await files.read("b");
  files.move("b", "/contexts/site/new");
}

async function moveAndRead(files: AgentFiles): Promise<void> {
  files.move("b", "new");
  await files.read("new");
}

async function moveAndWrite(files: AgentFiles): Promise<void> {
  files.move("b", "new");
  await files.write("new", new TextEncoder().encode("mine"));
}
