import { BlobStore } from "../../durable-objects/session/files/blob-store";
import { StorageQueue } from "../../durable-objects/session/files/storage-queue";
import type { RoundPlace } from "../../durable-objects/session/calls/call-store";
import { RoundChanges } from "../../durable-objects/session/files/round-changes";
import { createTables } from "../../durable-objects/session/session-tables";
import { SnapshotStore } from "../../durable-objects/session/files/snapshot-store";
import type { SessionObjects } from "../../r2-layout/session-files";
import type { BlobSource, StagedChanges } from "../../src/workspace/agent-files";
import { EMPTY_HASH, hashOf } from "../../src/workspace/snapshot";
import { applyChanges, EMPTY_TREE } from "../../src/workspace/tree";
import type { FileEntry, Tree } from "../../src/workspace/types";
import { Disk } from "../../simulated/disk";

export type Contents = Readonly<Record<string, string>>;
const [TURN, ATTEMPT] = [2, 1];
/** No contents are large enough for R2. So a read from R2 means that the contents were lost. */
const NO_OBJECTS = { blob: async () => null } as Partial<SessionObjects> as SessionObjects;

/**
 * State that survives a restart: the disk, and contexts, which are stored elsewhere.
 */
type PersistentState = {
  disk: Disk;
  /** Writes pending changes to the disk. */
  toDisk: () => void;
  /** The pinned version of each context, by name. */
  pinned: ReadonlyMap<string, Tree>;
  /** The texts of files in contexts, by hash. */
  contextTexts: ReadonlyMap<string, string>;
  /** The label of each agent's latest snapshot, by alias. */
  peers: Map<string, string>;
};

/**
 * The files of a session's second turn in real SQLite: changes and marks of rounds, contents and
 * snapshots.
 */
export class KeptFiles {
  readonly #persistent: PersistentState;
  #stores: ReturnType<typeof storesOn>;

  private constructor(persistent: PersistentState) {
    this.#persistent = persistent;
    this.#stores = storesOn(persistent.disk);
  }

  /** `base`: the files at the start of the turn. `contexts`: files by context and path. */
  static async begin(
    base: Contents,
    contexts: Readonly<Record<string, Contents>>,
  ): Promise<KeptFiles> {
    let commit = () => {};
    const mishaps = {
      beforeCommit: () => {},
      afterCommit: () => {},
      durable: () => {},
      lagMs: () => 0,
    };
    const schedule = (_: number, run: () => void) => {
      commit = run;
    };
    const disk = new Disk({ mishaps, schedule, toWorld: (at) => at });
    const contextTexts = new Map<string, string>();
    const pinned = new Map<string, Tree>();
    for (const [name, files] of Object.entries(contexts))
      pinned.set(name, await treeOf(files, contextTexts));
    const kept = new KeptFiles({
      disk,
      toDisk: () => commit(),
      pinned,
      contextTexts,
      peers: new Map(),
    });
    const texts = new Map<string, string>();
    const tree = await treeOf(base, texts);
    const { storage, blobs, snapshots } = kept.#stores;
    createTables(storage.sql);
    storage.transactionSync(() => {
      blobs.add(new Map([...texts].map(([hash, text]) => [hash, new TextEncoder().encode(text)])));
      snapshots.write({ turn: TURN - 1, attempt: 1, label: "agent1.final" }, tree);
    });
    kept.#persistent.toDisk();
    return kept;
  }

  workspace(place: RoundPlace): Tree {
    const { snapshots, changes } = this.#stores;
    return applyChanges(snapshots.baseOf(TURN), changes.of(place));
  }

  /** The pinned version of a context with the changes of the round. */
  context(place: RoundPlace, name: string): Tree {
    return applyChanges(this.#pinned(name), this.#stores.changes.ofContext(place, name));
  }

  marks(place: RoundPlace) {
    return this.#stores.changes.marks(place);
  }

  /** An agent's latest snapshot. */
  peer(alias: string): Tree {
    const label = this.#persistent.peers.get(alias) ?? "";
    return this.#stores.snapshots.read({ turn: TURN, attempt: ATTEMPT, label })?.tree ?? EMPTY_TREE;
  }

  /** Reads the session's own contents and the contents of contexts. */
  get source(): BlobSource {
    const { blobs } = this.#stores;
    const { contextTexts } = this.#persistent;
    return {
      read: async ({ hash }) => {
        const text = contextTexts.get(hash);
        return blobs.isKept(hash) || text === undefined
          ? blobs.read({ hash })
          : new TextEncoder().encode(text);
      },
    };
  }

  textsOf(tree: Tree): Record<string, string> {
    return Object.fromEntries([...tree].map(([path, { hash }]) => [path, this.#textOf(hash)]));
  }

  /**
   * Ends a call and stores its staged changes. `writable`: the contexts that the call may change.
   * `crashed`: the process ends before the changes are on disk.
   */
  settle(
    place: RoundPlace,
    staged: StagedChanges,
    writable: readonly string[],
    ending: "settled" | "crashed",
  ): void {
    const { storage, blobs, changes } = this.#stores;
    const edits = changes.editsWith(
      place,
      staged,
      new Map(writable.map((name) => [name, this.#pinned(name)])),
    );
    storage.transactionSync(() => {
      blobs.add(staged.blobs);
      changes.write(place, staged, { edits, isKnown: () => true });
    });
    if (ending === "settled") return this.#persistent.toDisk();
    this.#persistent.disk.crash();
    this.#persistent.disk.revive();
    this.restart();
  }

  /** Stores the agent's files as its latest snapshot. */
  freeze(place: RoundPlace, alias: string): void {
    const { storage, snapshots } = this.#stores;
    const { peers, toDisk } = this.#persistent;
    const label = `${alias}.${Number(peers.get(alias)?.split(".")[1] ?? 0) + 1}`;
    const tree = this.workspace(place);
    storage.transactionSync(() => snapshots.write({ turn: TURN, attempt: ATTEMPT, label }, tree));
    toDisk();
    peers.set(alias, label);
  }

  /** Drops everything in memory. */
  restart(): void {
    this.#stores = storesOn(this.#persistent.disk);
  }

  /** A new instance over the same storage. */
  restarted(): KeptFiles {
    return new KeptFiles(this.#persistent);
  }

  close(): void {
    this.#persistent.disk.close();
  }

  #pinned(name: string): Tree {
    return this.#persistent.pinned.get(name) ?? EMPTY_TREE;
  }

  #textOf(hash: string): string {
    if (hash === EMPTY_HASH) return "";
    const bytes = this.#stores.blobs.working(hash);
    const text = bytes ? new TextDecoder().decode(bytes) : this.#persistent.contextTexts.get(hash);
    if (text === undefined) throw new Error(`nobody kept the contents ${hash}`);
    return text;
  }
}

function storesOn(disk: Disk) {
  const { storage } = disk.state(
    () => {},
    () => {},
  );
  const { sql } = storage;
  return {
    storage,
    blobs: new BlobStore({ sql, objects: NO_OBJECTS, storageQueue: new StorageQueue() }),
    changes: new RoundChanges(sql),
    snapshots: new SnapshotStore(sql, {
      parentOf: (turn) => (turn > 1 ? turn - 1 : null),
      completedWith: () => 1,
    }),
  };
}

/** The tree of these files. Adds their texts to `texts`, by hash. */
async function treeOf(files: Contents, texts: Map<string, string>): Promise<Tree> {
  const entries = Object.entries(files).map(async ([path, text]): Promise<[string, FileEntry]> => {
    const bytes = new TextEncoder().encode(text);
    const hash = await hashOf(bytes);
    texts.set(hash, text);
    return [path, { hash, size: bytes.byteLength }];
  });
  return new Map(await Promise.all(entries));
}
