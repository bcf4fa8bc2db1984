import { MOST_AT_ONCE, type SessionObjects } from "../../../r2-layout/session-files";
import {
  type BlobSize,
  hashOf,
  newBlobs,
  type Pack,
  planBlobs,
} from "../../../src/workspace/snapshot";
import { encodeStoredManifest } from "../../../src/workspace/stored-manifest";
import { logError } from "../../../src/redaction/log";
import { type BlobStore, LostContents } from "./blob-store";
import type { StorageQueue } from "./storage-queue";
import type { ContextChanges } from "./context-changes";
import type { ContextStates } from "./context-states";
import type { DeliveryResult } from "../log/outbox-worker";
import type { Outbox } from "../log/outbox";
import type { SnapshotPlace, SnapshotStore } from "./snapshot-store";

/**
 * Work on files that is done in the background after an answer, a result or a turn is complete.
 * Every job is idempotent.
 */
export type FileJob =
  /** Uploads an answer's or a final text's files. `at`: when they were frozen, unix ms. */
  | ({ type: "upload_snapshot"; at: number } & SnapshotPlace & MissCount)
  /**
   * Uploads a part of a tool's result that is not in the conversation: a file, or a text that is
   * too large for the conversation.
   */
  | ({ type: "upload_result"; name: string; hash: string } & MissCount)
  /** Deletes working copies that nothing needs, after a turn has ended. */
  | { type: "tidy" }
  /**
   * Releases the context versions that refused starts of a turn have pinned. `hasChanges`: not used
   * any more.
   */
  | { type: "release_contexts"; turn: number; hasChanges: boolean }
  /** Erases contents in R2 that no row names. */
  | { type: "erase_blobs"; hashes: string[] };

/** `misses`: the number of tries in which contents of the job were missing; omitted if 0. */
type MissCount = { misses?: number };

/** The number of tries after which missing contents count as lost. */
const MOST_MISSES = 5;

/** Releases the versions that a turn has pinned, except `keptVersions`. */
export type ReleasePins = (
  turn: number,
  keptVersions: readonly { context: string; version: string }[],
) => Promise<void>;

type Options = {
  blobs: BlobStore;
  snapshots: SnapshotStore;
  contextChanges: ContextChanges;
  contextStates: Pick<ContextStates, "start">;
  objects: SessionObjects;
  storageQueue: StorageQueue;
  outbox: Outbox<FileJob>;
  transaction: (work: () => void) => void;
  /** The latest turn, and whether it runs; `null` before the first. */
  latestTurn: () => { turn: number; isRunning: boolean } | null;
  /** See `TurnEnds`. */
  completedWith: (turn: number) => number | null;
  release: ReleasePins;
  /** Unix ms. */
  now: () => number;
  session: string;
  /** Called after each job, because the session's stored bytes have changed. */
  stored?: () => Promise<void>;
};

/**
 * Uploads snapshots and results to R2, and deletes contents that nothing needs. No turn waits for
 * this work or fails because of it. For a snapshot, its new contents are uploaded first (small
 * contents together in packs) and then its manifest. After a crash, the objects that were already
 * written are found in R2.
 */
export class FileJobs {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Performs a job. Throws if R2 fails; then the job must be repeated. Returns `later` if another
   * job must be done first, and `again` if contents are missing. After `MOST_MISSES` tries, missing
   * contents are recorded and logged as lost, and the rest of the job is done.
   */
  async perform(job: FileJob): Promise<DeliveryResult<FileJob>> {
    const delivered = await this.#perform(job);
    await this.#options.stored?.();
    return delivered;
  }

  async #perform(job: FileJob): Promise<DeliveryResult<FileJob>> {
    const { blobs, objects, storageQueue } = this.#options;
    switch (job.type) {
      case "upload_snapshot":
        return this.#upload(job);
      case "upload_result":
        return this.#uploadResult(job);
      case "tidy":
        return this.#tidy();
      case "release_contexts":
        await this.#release(job);
        return "done";
      case "erase_blobs":
        // The check runs inside the storage queue. A writer that needs one of these contents either
        // has added its row before this check, or writes the object again after the erasure.
        await storageQueue.takeAlone(() =>
          objects.eraseBlobs(job.hashes.filter((hash) => !blobs.has(hash))),
        );
        return "done";
    }
  }

  async #upload(
    job: Extract<FileJob, { type: "upload_snapshot" }>,
  ): Promise<DeliveryResult<FileJob>> {
    const { blobs, snapshots, objects, storageQueue } = this.#options;
    const frozen = snapshots.frozen(job);
    const where = `snapshots/${nameOf(job)}`;
    if (!frozen) return this.#missed(job, where, ["the snapshot itself"]);
    const { inStorage, inBucket, lost } = await this.#locate(
      newBlobs(frozen.changes, (hash) => blobs.isStored(hash)),
    );
    if (lost.length > 0 && mayRetry(job)) return countMiss(job);
    const { packs, single } = planBlobs(inStorage);
    for (const pack of packs) await this.#putPack(pack);
    for (const blob of single) await this.#putBlob(blob);
    for (const blob of inBucket) blobs.noteStored(blob, null);
    const { parent, files, bytes, changes } = frozen;
    const text = encodeStoredManifest({
      parent: parent && nameOf(parent),
      takenAt: job.at,
      files,
      bytes,
      changes,
      placeOf: (hash) => blobs.storedAt(hash)?.at ?? null,
      lost: new Set(lost),
    });
    await storageQueue.take(() => objects.putSnapshot(nameOf(job), text));
    return lost.length === 0 ? "done" : this.#missed(job, where, lost);
  }

  async #uploadResult(
    job: Extract<FileJob, { type: "upload_result" }>,
  ): Promise<DeliveryResult<FileJob>> {
    const { blobs, objects, storageQueue } = this.#options;
    try {
      const bytes = await blobs.read(job);
      await storageQueue.take(() => objects.putResult(job.name, bytes));
    } catch (error) {
      if (!(error instanceof LostContents)) throw error;
      return this.#missed(job, `tool-results/${job.name}`, [error.hash]);
    }
    return "done";
  }

  /**
   * Finds out where contents of a snapshot are. Contents that are too large for a row are already
   * separate objects in R2. A manifest must not name missing contents as present.
   */
  async #locate(
    contents: readonly BlobSize[],
  ): Promise<{ inStorage: BlobSize[]; inBucket: BlobSize[]; lost: string[] }> {
    const { blobs, objects, storageQueue } = this.#options;
    const [inStorage, inBucket, lost]: [BlobSize[], BlobSize[], string[]] = [[], [], []];
    for (const blob of contents) {
      if (blobs.isKept(blob.hash)) inStorage.push(blob);
      else if (await storageQueue.take(() => objects.hasBlob(blob.hash))) inBucket.push(blob);
      else lost.push(blob.hash);
    }
    return { inStorage, inBucket, lost };
  }

  /**
   * Counts a try in which contents were missing. After the last try, records them as lost. `where`:
   * the key in R2, below the session's prefix, that needed the contents.
   */
  #missed(
    job: FileJob & MissCount,
    where: string,
    lost: readonly string[],
  ): DeliveryResult<FileJob> {
    const { blobs, transaction, now, session } = this.#options;
    if (mayRetry(job)) return countMiss(job);
    transaction(() => {
      for (const hash of lost) blobs.noteLost(hash, where, now());
    });
    logError(
      "contents of files are lost: they are neither in the session's storage nor in R2",
      session,
      where,
      ...lost,
    );
    return "done";
  }

  async #putPack({ members, size }: Pack): Promise<void> {
    const { blobs, objects, storageQueue, transaction } = this.#options;
    const bytes = new Uint8Array(size);
    for (const { hash, offset } of members) bytes.set(this.#working(hash), offset);
    const name = await hashOf(bytes);
    await storageQueue.take(() => objects.putPack(name, bytes));
    transaction(() => {
      for (const { offset, ...blob } of members) blobs.noteStored(blob, { pack: name, at: offset });
    });
  }

  async #putBlob(blob: BlobSize): Promise<void> {
    const { blobs, objects, storageQueue } = this.#options;
    const bytes = this.#working(blob.hash);
    await storageQueue.take(() => objects.putBlob(blob.hash, bytes));
    blobs.noteStored(blob, null);
  }

  #working(hash: string): Uint8Array {
    const bytes = this.#options.blobs.working(hash);
    if (!bytes) throw new LostContents(hash);
    return bytes;
  }

  /**
   * Deletes working copies that nothing needs:
   *
   * - Working copies of discarded rounds are deleted.
   * - Of the contents in snapshots, only the files of the latest result keep a working copy,
   *   because the next turn begins with them.
   * - Contents of completed turns' states of contexts are not examined: they are kept as long as
   *   the session, because they are stored nowhere else and may be fetched at any time.
   *
   * Does nothing while a turn runs: the end of the turn adds another `tidy` job.
   */
  #tidy(): "done" | "later" {
    const { blobs, outbox, transaction } = this.#options;
    const { turn, isRunning } = this.#options.latestTurn() ?? { turn: 0, isRunning: false };
    if (isRunning) return "done";
    const pendingHashes = this.#pendingHashes();
    const nextTurnHashes = new Set(
      [...this.#options.snapshots.baseOfNext(turn).values()].map(({ hash }) => hash),
    );
    const hashesToErase: string[] = [];
    transaction(() => {
      this.#keepOldChanges();
      for (const { hash, spilled, stored } of blobs.deletableCopies()) {
        const isNextTurns = stored && !spilled && nextTurnHashes.has(hash);
        if (pendingHashes.has(hash) || isNextTurns) continue;
        blobs.drop(hash);
        if (spilled && !stored) hashesToErase.push(hash);
      }
      for (let from = 0; from < hashesToErase.length; from += MOST_AT_ONCE) {
        outbox.add({ type: "erase_blobs", hashes: hashesToErase.slice(from, from + MOST_AT_ONCE) });
      }
    });
    return pendingHashes.size > 0 ? "later" : "done";
  }

  /**
   * Releases the context versions that a turn does not use. The versions that its states are based
   * on stay pinned as long as the session: later turns are merged with them, and clients compare
   * them with their files.
   */
  #release({ turn }: { turn: number }): Promise<void> {
    const { contextStates, release } = this.#options;
    const used = contextStates
      .start(turn)
      .states.flatMap(({ context, version, sources }) =>
        [...new Set([version, ...sources.values()])].map((one) => ({ context, version: one })),
      );
    return release(turn, used);
  }

  /**
   * Keeps the contents of completed turns that an older version of the service has stored. It did
   * not keep them at the turn's end, but looked them up in each job.
   */
  #keepOldChanges(): void {
    const { blobs, contextChanges, completedWith } = this.#options;
    blobs.keepOnce(() =>
      contextChanges
        .turns()
        .filter((turn) => completedWith(turn) !== null)
        .flatMap((turn) => [...contextChanges.hashes(turn)]),
    );
  }

  /** Hashes of contents that are to be uploaded. */
  #pendingHashes(): Set<string> {
    const { outbox, snapshots } = this.#options;
    const hashes = outbox.all().flatMap((job) => {
      if (job.type === "upload_result") return [job.hash];
      if (job.type !== "upload_snapshot") return [];
      return [...(snapshots.frozen(job)?.changes.values() ?? [])].flatMap((entry) =>
        entry === null ? [] : [entry.hash],
      );
    });
    return new Set(hashes);
  }
}

/** A snapshot's name in R2. */
const nameOf = ({ turn, attempt, label }: SnapshotPlace): string => `${turn}/${attempt}/${label}`;

const mayRetry = ({ misses = 0 }: MissCount): boolean => misses + 1 < MOST_MISSES;
const countMiss = <Job extends FileJob & MissCount>(job: Job): { again: Job } => ({
  again: { ...job, misses: (job.misses ?? 0) + 1 },
});
