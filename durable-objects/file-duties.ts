import { MOST_AT_ONCE, type SessionObjects } from "../r2-layout/session-files";
import { hashOf } from "../src/workspace/hash";
import { type BlobSize, newBlobs, type Pack, planBlobs } from "../src/workspace/snapshot";
import { encodeStoredManifest } from "../src/workspace/stored-manifest";
import type { BlobStore } from "./blob-store";
import type { BucketTurns } from "./bucket-turns";
import type { ContextChanges } from "./context-changes";
import type { Outbox } from "./outbox";
import type { SnapshotPlace, SnapshotStore } from "./snapshot-store";

/** What is still to be done with a session's files when an answer, a result or a turn is there. Each may be done twice. */
export type FileDuty =
  | ({ type: "upload_snapshot"; at: number } & SnapshotPlace)
  /** Of a tool's result what was not for a conversation: a text too large for it, or a file. */
  | { type: "upload_result"; name: string; hash: string }
  /** Of a turn that is over: working copies that nothing needs any more. */
  | { type: "tidy" }
  /** Contents that lie in R2 alone and that no snapshot has. */
  | { type: "erase_blobs"; hashes: string[] };

type Options = {
  blobs: BlobStore;
  snapshots: SnapshotStore;
  contextChanges: ContextChanges;
  objects: SessionObjects;
  turns: BucketTurns;
  outbox: Outbox<FileDuty>;
  transaction: (work: () => void) => void;
  /** The latest turn, and whether it runs. */
  latestTurn: () => { turn: number; isRunning: boolean } | null;
  /** See `Ends`. */
  completedWith: (turn: number) => number | null;
};

/**
 * Brings snapshots and results to R2, and lets go of what nothing needs: no run waits for it or fails by it. A snapshot is its new
 * contents, small ones together, and then its manifest; whatever was written before a kill is found there.
 */
export class FileDuties {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Throws if R2 does not do its part; then it is to be done again. `later`: something else must be done first. */
  async perform(duty: FileDuty): Promise<"done" | "later"> {
    const { blobs, objects, turns } = this.#options;
    switch (duty.type) {
      case "upload_snapshot":
        await this.#upload(duty);
        return "done";
      case "upload_result": {
        const bytes = await blobs.read(duty);
        await turns.take(() => objects.putResult(duty.name, bytes));
        return "done";
      }
      case "tidy":
        return this.#tidy();
      case "erase_blobs":
        // In its turn, so that whoever wants one of them again has said so, or finds nothing and writes it anew.
        await turns.takeAll(() => objects.eraseBlobs(duty.hashes.filter((hash) => !blobs.has(hash))));
        return "done";
    }
  }

  async #upload(duty: SnapshotPlace & { at: number }): Promise<void> {
    const { blobs, snapshots, objects, turns } = this.#options;
    const frozen = snapshots.frozen(duty);
    if (!frozen) throw new Error(`there is no snapshot ${duty.turn}/${duty.attempt}/${duty.label}`);
    const { packs, single } = planBlobs(newBlobs(frozen.changes, (hash) => blobs.isStored(hash)));
    for (const pack of packs) await this.#putPack(pack);
    for (const blob of single) await this.#putBlob(blob);
    const { parent, files, bytes, changes } = frozen;
    const text = encodeStoredManifest({
      parent: parent && nameOf(parent),
      takenAt: duty.at,
      files,
      bytes,
      changes,
      placeOf: (hash) => blobs.storedAt(hash)?.at ?? null,
    });
    await turns.take(() => objects.putSnapshot(nameOf(duty), text));
  }

  async #putPack({ members, size }: Pack): Promise<void> {
    const { blobs, objects, turns, transaction } = this.#options;
    const bytes = new Uint8Array(size);
    for (const { hash, offset } of members) bytes.set(this.#working(hash), offset);
    const name = await hashOf(bytes);
    await turns.take(() => objects.putPack(name, bytes));
    transaction(() => {
      for (const { offset, ...blob } of members) blobs.noteStored(blob, { pack: name, at: offset });
    });
  }

  /** What was too large for a row is there already, under the same name; a manifest must not name what is not. */
  async #putBlob(blob: BlobSize): Promise<void> {
    const { blobs, objects, turns } = this.#options;
    const bytes = blobs.working(blob.hash);
    if (bytes) await turns.take(() => objects.putBlob(blob.hash, bytes));
    else if (!(await turns.take(() => objects.hasBlob(blob.hash)))) throw lost(blob.hash);
    blobs.noteStored(blob, null);
  }

  #working(hash: string): Uint8Array {
    const bytes = this.#options.blobs.working(hash);
    if (!bytes) throw lost(hash);
    return bytes;
  }

  /**
   * What is left of rounds whose work was discarded goes; of what snapshots hold, only the files of the session's latest result stay
   * at hand, since the next turn begins with them. What completed turns made of contexts stays as long as the session does: it lies
   * nowhere else, and may be fetched at any time, again and again. A turn that runs tidies up when it ends.
   */
  #tidy(): "done" | "later" {
    const { blobs, outbox, transaction } = this.#options;
    const { turn, isRunning } = this.#options.latestTurn() ?? { turn: 0, isRunning: false };
    if (isRunning) return "done";
    const pending = this.#pending();
    const made = this.#options.contextChanges.hashes((one) => this.#options.completedWith(one) !== null);
    const atHand = new Set([...this.#options.snapshots.baseOfNext(turn).values()].map(({ hash }) => hash));
    const erased: string[] = [];
    transaction(() => {
      for (const { hash, spilled, stored } of blobs.workingCopies()) {
        if (pending.has(hash) || made.has(hash) || (stored && !spilled && atHand.has(hash))) continue;
        blobs.drop(hash);
        if (spilled && !stored) erased.push(hash);
      }
      for (let from = 0; from < erased.length; from += MOST_AT_ONCE) {
        outbox.add({ type: "erase_blobs", hashes: erased.slice(from, from + MOST_AT_ONCE) });
      }
    });
    return pending.size > 0 ? "later" : "done";
  }

  /** Contents that are still to be uploaded. */
  #pending(): Set<string> {
    const { outbox, snapshots } = this.#options;
    const hashes = outbox.all().flatMap((duty) => {
      if (duty.type === "upload_result") return [duty.hash];
      if (duty.type !== "upload_snapshot") return [];
      return [...(snapshots.frozen(duty)?.changes.values() ?? [])].flatMap((entry) => (entry === null ? [] : [entry.hash]));
    });
    return new Set(hashes);
  }
}

/** A snapshot's name in R2. */
const nameOf = ({ turn, attempt, label }: SnapshotPlace): string => `${turn}/${attempt}/${label}`;

const lost = (hash: string): Error => new Error(`the contents ${hash} are lost`);
