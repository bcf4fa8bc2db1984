import type { Contents, ContextPoint } from "../../../../durable-objects/session/session-api";
import { READS_AT_ONCE } from "../../../../r2-layout/contexts";
import { inOrder } from "../../../async/in-order";
import { type FileChange, fileChanges } from "../../../diff/file-changes";
import type { ContextReader, OpenContext } from "../../../uploads/context-reader";
import { applyChanges, EMPTY_TREE, sameEntry } from "../../../workspace/tree";
import type { FileEntry, Tree } from "../../../workspace/types";
import type { SessionStub } from "../../services";
import { unreadableError } from "../session-file-routes";

/** Contents of a file; `null` if they are no longer stored. */
export type FileContents = Uint8Array<ArrayBuffer> | null;

/**
 * The changed files of the workspace or of one context, and their contents. `read` returns the
 * contents in the order of the entries. It throws `interrupted` if they cannot be read now.
 */
export type ChangedRoot = {
  prefix: string;
  changes: readonly FileChange[];
  read(entries: readonly FileEntry[]): Promise<FileContents[]>;
};

/** Changes of the workspace. Its contents are in the session. */
export const workspaceRoot = (stub: SessionStub, from: Tree, to: Tree): ChangedRoot => ({
  prefix: "",
  changes: fileChanges(from, to),
  read: async (entries) => (await stub.blobs(entries.map(({ hash }) => hash))).map(bytesOf),
});

function bytesOf(contents: Contents): FileContents {
  if (contents.ok) return contents.bytes;
  if (contents.code === "interrupted") throw unreadableError();
  return null;
}

/** Where contexts are read from. */
export type ContextSource = { stub: SessionStub; reader: ContextReader; tenant: string };

/**
 * Changes of a context; `null` if one of its versions is erased. A side that never used the context
 * has the files of the version that the other side is based on: the user's uploaded files do not
 * count as added.
 */
export async function contextRoot(
  name: string,
  states: { from: ContextPoint | null; to: ContextPoint | null },
  { stub, reader, tenant }: ContextSource,
): Promise<ChangedRoot | null> {
  const from = states.from ?? (states.to && uploaded(states.to));
  const to = states.to ?? (states.from && uploaded(states.from));
  const prefix = `contexts/${name}/`;
  if (!from || !to || isSameState(from, to)) return { prefix, changes: [], read: async () => [] };
  const versions = new Versions({ reader, tenant, name });
  const [before, after] = [await versions.open(from.version), await versions.open(to.version)];
  if (!before || !after) return null;
  const changes = fileChanges(
    applyChanges(before.tree, from.changes),
    applyChanges(after.tree, to.changes),
  );
  const sources = new Map([...from.sources, ...to.sources]);
  const read = (entries: readonly FileEntry[]) =>
    readContext(entries, { stub, versions, opened: [before, after], sources });
  return { prefix, changes, read };
}

const uploaded = ({ version }: ContextPoint): ContextPoint => ({
  version,
  changes: EMPTY_TREE,
  sources: new Map(),
});

const isSameState = (a: ContextPoint, b: ContextPoint): boolean =>
  a.version === b.version &&
  a.changes.size === b.changes.size &&
  [...a.changes].every(
    ([path, entry]) => b.changes.has(path) && sameEntry(entry, b.changes.get(path)),
  );

type OpenVersions = {
  stub: SessionStub;
  versions: Versions;
  /** The versions of both sides. */
  opened: readonly OpenContext[];
  /** Older versions that store contents of changes, by hash. */
  sources: ReadonlyMap<string, string>;
};

/** Reads contents from the versions that store them; the session has those that agents wrote. */
async function readContext(
  entries: readonly FileEntry[],
  { stub, versions, opened, sources }: OpenVersions,
): Promise<FileContents[]> {
  const contents = new Map<string, FileContents>();
  const uploads: { entry: FileEntry; from: OpenContext }[] = [];
  const written: string[] = [];
  for (const entry of new Map(entries.map((one) => [one.hash, one])).values()) {
    const source = sources.get(entry.hash);
    const from =
      opened.find((version) => version.has(entry.hash)) ??
      (source === undefined ? null : await versions.open(source));
    if (from?.has(entry.hash)) uploads.push({ entry, from });
    else written.push(entry.hash);
  }
  const isSearch = uploads.length > 1;
  const reads = inOrder(uploads, READS_AT_ONCE, async ({ entry, from }) => ({
    hash: entry.hash,
    bytes: new Uint8Array(await from.read(entry, isSearch)),
  }));
  for await (const { hash, bytes } of reads) contents.set(hash, bytes);
  const stored = written.length === 0 ? [] : await stub.blobs(written);
  for (const [index, hash] of written.entries()) {
    const found = stored[index];
    contents.set(hash, found ? bytesOf(found) : null);
  }
  return entries.map(({ hash }) => contents.get(hash) ?? null);
}

/** Older versions that stay open at the same time. */
const MAX_OPEN = 4;

/** Versions of one context, opened once. The one that was used longest ago is dropped. */
class Versions {
  readonly #place: { reader: ContextReader; tenant: string; name: string };
  readonly #open = new Map<string, OpenContext | null>();

  constructor(place: { reader: ContextReader; tenant: string; name: string }) {
    this.#place = place;
  }

  /** Opens a version; `null` if it does not exist. */
  async open(id: string): Promise<OpenContext | null> {
    const { reader, tenant, name } = this.#place;
    const known = this.#open.get(id);
    const opened = known === undefined ? await reader.open(tenant, name, id) : known;
    this.#open.delete(id);
    this.#open.set(id, opened);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return opened;
  }
}
