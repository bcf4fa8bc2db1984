import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { fileStores } from "../../../../durable-objects/session/files/compose-workspaces";
import type { SnapshotPlace } from "../../../../durable-objects/session/files/snapshot-store";
import { sessionPrefix } from "../../../../r2-layout/session-files";
import type { Bucket } from "../../../../r2-layout/bucket";
import { hashOf } from "../../../../src/workspace/snapshot";
import type { FileEntry, Tree } from "../../../../src/workspace/types";
import { readStoredSnapshots } from "../../../../simulated/stored-snapshots";

/** A session's file stores with the runtime's own SQLite and R2, but without a session. */

const TENANT = "files";
type Contents = Readonly<Record<string, string | Uint8Array>>;

/** Records the calls of R2. `breaks` is called before and after each call of R2, and may throw. */
type BucketRecorder = {
  calls: string[];
  breaks: (call: string, when: "before" | "after") => void;
};

export type FileRig = Awaited<ReturnType<typeof makeRig>>;

/** Runs a test with file stores of its own session. */
export const withFiles = (work: (rig: FileRig) => Promise<void>): Promise<void> =>
  runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, { storage }) => {
    await work(await makeRig(storage));
  });

async function makeRig(storage: DurableObjectStorage) {
  createTables(storage.sql);
  const session = `session_${crypto.randomUUID()}`;
  const watched: BucketRecorder = { calls: [], breaks: () => undefined };
  const state = { latest: { turn: 1, isRunning: false } };
  const places = {
    storage,
    bucket: watchedBucket(env.BUCKET, watched),
    place: { tenant: TENANT, session },
    pins: { release: async () => undefined },
  };
  const ends = {
    parentOf: (turn: number) => (turn > 1 ? turn - 1 : null),
    completedWith: () => 1,
    pinnedIn: () => [],
  };
  const started = () => fileStores(places, { ...ends, latest: () => state.latest });
  // `restart` creates the stores again, so that everything is lost that is only in memory.
  const rig = {
    ...started(),
    storage,
    watched,
    state,
    restart: () => Object.assign(rig, started()),
  };
  const inBucket = bucketViews(sessionPrefix(TENANT, session));
  return Object.assign(rig, inBucket, {
    commit: (contents: Contents, interruption?: Interruption) =>
      commit(rig, contents, interruption),
    answer: (place: SnapshotPlace, contents: Contents) => answer(rig, place, contents),
    work: () => work(rig),
    /** Deletes contents from the session's storage and from R2. */
    async lose(entry: FileEntry | undefined): Promise<void> {
      storage.sql.exec("DELETE FROM blobs WHERE hash = ?", entry?.hash ?? "");
      await env.BUCKET.delete(`${sessionPrefix(TENANT, session)}blobs/${entry?.hash}`);
    },
    text: async (entry: FileEntry | undefined): Promise<string> =>
      new TextDecoder().decode(await rig.blobs.read(entry ?? { hash: "none" })),
    rows: (table: "blobs" | "stored_blobs"): number =>
      storage.sql.exec<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).one().rows,
  });
}

type Stores = ReturnType<typeof fileStores> & {
  storage: DurableObjectStorage;
  restart: () => void;
};

/** How a tool call is interrupted: before its rows are written ("forgotten"), or by an abort. */
type Interruption = "forgotten" | AbortSignal;

/** Writes contents like a tool call that ends. */
async function commit(
  { blobs, storage }: Stores,
  contents: Contents,
  interruption?: Interruption,
): Promise<Tree> {
  const tree = new Map<string, FileEntry>();
  const staged = new Map<string, Uint8Array>();
  for (const [path, content] of Object.entries(contents)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const hash = await hashOf(bytes);
    tree.set(path, { hash, size: bytes.byteLength });
    staged.set(hash, bytes);
  }
  await blobs.spill(
    staged,
    interruption instanceof AbortSignal ? interruption : new AbortController().signal,
  );
  if (interruption !== "forgotten") storage.transactionSync(() => blobs.add(staged));
  return tree;
}

/** Freezes a tree with an answer, and records that it must be uploaded. */
async function answer(rig: Stores, place: SnapshotPlace, contents: Contents): Promise<Tree> {
  const tree = await commit(rig, contents);
  rig.storage.transactionSync(() => {
    rig.snapshots.write(place, tree);
    rig.outbox.add({ type: "upload_snapshot", ...place, at: 7 });
  });
  return tree;
}

/**
 * Performs all jobs until none is left, with a restart after each failed try. Returns the number of
 * failed tries.
 */
async function work(rig: Stores): Promise<number> {
  let failures = 0;
  for (;;) {
    const item = rig.outbox.due(Number.MAX_SAFE_INTEGER);
    if (!item) return failures;
    if (failures > 100) throw new Error("the jobs do not come to an end");
    try {
      const delivered = await rig.jobs.perform(item.body);
      if (delivered === "done") rig.outbox.done(item.id);
      else rig.outbox.failed(delivered === "later" ? item : { ...item, body: delivered.again }, 0);
      if (delivered === "done") continue;
    } catch {
      // It is due again at once.
    }
    failures += 1;
    rig.restart();
  }
}

function bucketViews(prefix: string) {
  const objects = async () => (await env.BUCKET.list({ prefix })).objects;
  return {
    keys: async (): Promise<string[]> =>
      (await objects()).map(({ key }) => key.slice(prefix.length)),
    /** The keys of the objects in R2 with their versions; a new write changes the version. */
    versions: async () => (await objects()).map(({ key, version }) => `${key} ${version}`),
    stored: () => readStoredSnapshots(env.BUCKET, prefix),
  };
}

/** The same bucket, with a recorder that can make its calls fail. */
function watchedBucket(real: Bucket, watched: BucketRecorder): Bucket {
  return new Proxy(real, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        const call = String(name);
        watched.calls.push(call);
        watched.breaks(call, "before");
        const result: unknown = await Reflect.apply(member, target, args);
        watched.breaks(call, "after");
        return result;
      };
    },
  });
}
