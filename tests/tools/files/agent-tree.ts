import { fileTools } from "../../../src/tools/files";
import type { Tool, ToolContext, ToolResult } from "../../../src/tools/tool";
import type { AgentFiles, BlobSource, FileLimits } from "../../../src/workspace/agent-files";
import { hashOf } from "../../../src/workspace/snapshot";
import { StagedFiles } from "../../../src/workspace/staged-files";
import type { FileEntry, Tree } from "../../../src/workspace/types";
import { OneLoadedTurn, type TurnsSetup } from "../../workspace/turn-rig";

/** The contents of a tree's files, by path. */
export type Contents = Record<string, string | Uint8Array>;

/** All files that an agent can access. */
export type World = {
  workspace?: Contents;
  /** The files of each peer, by the peer's alias. */
  peers?: Record<string, Contents>;
  /** The files of each context, by the context's name. In each, the path `locked` is protected. */
  contexts?: Record<string, Contents>;
  /** Earlier turns. */
  turns?: TurnsSetup<Contents>;
  /** Names of the contexts that the agent may change. */
  writable?: string[];
  /** Paths of empty directories. */
  directories?: readonly string[];
};

const LIMITS: FileLimits = { fileBytes: 8_000_000, files: 20_000, treeBytes: 64_000_000 };

/** The files of an agent with these contents. The agent has not read any of them yet. */
export async function agentFiles(
  { workspace = {}, peers = {}, contexts = {}, turns, writable = [], directories = [] }: World,
  limits: FileLimits = LIMITS,
): Promise<StagedFiles> {
  const blobs = new Map<string, Uint8Array>();
  const tree = (contents: Contents) => treeOf(contents, blobs);
  const peerTrees = await Promise.all(
    Object.entries(peers).map(async ([alias, files]) => [alias, await tree(files)] as const),
  );
  const contextTrees = await Promise.all(
    Object.entries(contexts).map(async ([name, files]) => {
      const context = {
        tree: await tree(files),
        writable: writable.includes(name),
        protectedPaths: ["locked"],
      };
      return [name, context] as const;
    }),
  );
  return new StagedFiles({
    workspace: await tree(workspace),
    peers: new Map(peerTrees),
    contexts: new Map(contextTrees),
    ...(turns && { turns: await turnsOf(turns, tree) }),
    blobs: blobSourceOf(blobs),
    read: new Set(),
    own: new Set(),
    directories: new Set(directories),
    readBeforeDelete: true,
    limits,
  });
}

async function turnsOf(
  turns: TurnsSetup<Contents>,
  tree: (contents: Contents) => Promise<Tree>,
): Promise<OneLoadedTurn> {
  const found: Record<string, Record<string, Tree>> = {};
  for (const [turn, trees] of Object.entries(turns)) {
    found[turn] = {};
    for (const [name, contents] of Object.entries(trees)) found[turn][name] = await tree(contents);
  }
  return new OneLoadedTurn(found);
}

async function treeOf(contents: Contents, blobs: Map<string, Uint8Array>): Promise<Tree> {
  const entries = Object.entries(contents).map(
    async ([path, content]): Promise<[string, FileEntry]> => {
      const bytes = bytesOf(content);
      const hash = await hashOf(bytes);
      blobs.set(hash, bytes);
      return [path, { hash, size: bytes.length }];
    },
  );
  return new Map(await Promise.all(entries));
}

function blobSourceOf(blobs: ReadonlyMap<string, Uint8Array>): BlobSource {
  return {
    async read({ hash }) {
      const bytes = blobs.get(hash);
      if (!bytes) throw new Error(`there is no blob ${hash}`);
      return bytes;
    },
  };
}

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content;

/** The file tool with this name. */
export function fileTool(name: string): Tool {
  const tool = fileTools().find(({ spec }) => spec.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool;
}

/** Runs a tool in a test context. `overrides` replaces parts of the context. */
export function runTool(
  tool: Tool,
  args: unknown,
  files: AgentFiles | null,
  overrides: Partial<ToolContext> = {},
): Promise<ToolResult> {
  const context: ToolContext = {
    place: { session: "session_1", turn: 1, attempt: 1, agent: "a", round: 1, toolCall: "call_1" },
    files,
    fetch: () => Promise.reject(new Error("no network in tests")),
    signal: new AbortController().signal,
    idempotencyKey: "key_1",
    now: () => 0,
    ...overrides,
  };
  return tool.run(args, context);
}

/** The text of a file. */
export const readAsText = async (files: AgentFiles, path: string): Promise<string> =>
  new TextDecoder().decode(await files.read(path));
