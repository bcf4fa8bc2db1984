import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createContextIndex } from "../../d1/context-rows";
import { contextServices } from "../../durable-objects/shared/context-services";
import { initialState } from "../../durable-objects/session/files/context-states";
import { StorageQueue } from "../../durable-objects/session/files/storage-queue";
import { SessionContexts } from "../../durable-objects/session/files/session-contexts";
import type { Bucket } from "../../r2-layout/bucket";
import { ContextFiles } from "../../r2-layout/contexts";
import { createContextReader } from "../../src/uploads/context-reader";
import type { ArchiveEntry } from "../../src/uploads/read-tar";
import { putBlobs, putManifest } from "../../src/uploads/uploads";
import { FILE_TOOL_LIMITS } from "../../src/tools/files/file-limits";
import { grepTool } from "../../src/tools/files/grep";
import { hashOf } from "../../src/workspace/snapshot";
import { StagedFiles } from "../../src/workspace/staged-files";

// Counts the reads from R2 during a search in the files of a context, without cached files. The
// tests use the R2 of the runtime.

const TENANT = "cold";
const { store } = contextServices(env);

const source = (nth: number, changed = "") =>
  `// file ${nth}\n${"const x = 1;\n".repeat(150)}${nth % 100 === 7 ? "needle" : "hay"}${changed}\n`;

const pathOf = (nth: number) => `src/${String(nth).padStart(3, "0")}.ts`;

async function pushFiles(name: string, texts: ReadonlyMap<string, string>): Promise<string> {
  const entries = await Promise.all(
    [...texts].map(async ([path, text]) => {
      const bytes = new Uint8Array(new TextEncoder().encode(text));
      return { path, sha256: await hashOf(bytes), size: bytes.byteLength, bytes };
    }),
  );
  const manifest = { files: entries.map(({ bytes: _, ...entry }) => entry) };
  const owner = { tenant: TENANT, name };
  const { version, missing } = await putManifest(store, owner, manifest, Date.now());
  const blobs = async function* (): AsyncGenerator<ArchiveEntry> {
    for (const { sha256, bytes } of entries)
      if (missing.includes(sha256)) yield { kind: "file", name: sha256, bytes, executable: false };
  };
  expect(await putBlobs(store, { ...owner, version }, blobs)).toBe(missing.length);
  return (await putManifest(store, owner, manifest, Date.now())).version;
}

/**
 * Searches all files of a version with the agents' tool. Returns the tool's text and the number of
 * reads.
 */
async function searchVersion(
  name: string,
  version: string,
): Promise<{ output: string; reads: number }> {
  const counted = { reads: 0 };
  const bucket = new Proxy<Bucket>(env.BUCKET, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        counted.reads += 1;
        return Reflect.apply(member, target, args);
      };
    },
  });
  const reader = createContextReader({
    index: createContextIndex(env.DB),
    files: new ContextFiles(bucket),
  });
  const contexts = new SessionContexts({
    reader,
    tenant: TENANT,
    storageQueue: new StorageQueue(),
  });
  await contexts.load(1, [initialState(name, version, null)]);
  const tree = contexts.tree({ name, version }) ?? new Map();
  const files = new StagedFiles({
    workspace: new Map(),
    peers: new Map(),
    contexts: new Map([[name, { tree, writable: false, protectedPaths: [] }]]),
    blobs: contexts,
    read: new Set(),
    own: new Set(),
    directories: new Set(),
    readBeforeDelete: true,
    limits: { fileBytes: 1, files: 1, treeBytes: 1 },
  });
  const context = { files, signal: new AbortController().signal };
  const { text } = await grepTool(FILE_TOOL_LIMITS).run(
    { pattern: "needle", path: `/contexts/${name}` },
    context as never,
  );
  return { output: text, reads: counted.reads };
}

it("a search in 500 small files needs four reads: the manifest, the places, one file and the pack", async () => {
  const texts = new Map(Array.from({ length: 500 }, (_, nth) => [pathOf(nth), source(nth)]));
  const first = await pushFiles("site", texts);
  const { output, reads } = await searchVersion("site", first);
  expect(output.match(/needle/g)).toHaveLength(5);
  expect(reads).toBe(4);
});

it("after a second upload, a search also reads the pack of the changed files, and each pack only once", async () => {
  const texts = new Map(Array.from({ length: 500 }, (_, nth) => [pathOf(nth), source(nth)]));
  await pushFiles("changed", texts);
  // The changed files are pairs that are spread over the tree.
  for (let nth = 0; nth < 500; nth += 25)
    for (const number of [nth, nth + 1]) texts.set(pathOf(number), source(number, " changed"));
  const { output, reads } = await searchVersion("changed", await pushFiles("changed", texts));
  expect(output.match(/needle/g)).toHaveLength(5);
  expect(reads).toBe(2 + 2 + 1);
});
