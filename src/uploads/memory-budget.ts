import { PATH_LIMITS } from "../workspace/paths";
import { MAX_PENDING_BYTES } from "./blob-writer";
import { CONTEXT_PACKS } from "./packs";
import { PIECE_BYTES } from "./spool";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

const MB = 1_000_000;

/** Memory for the names and positions of an upload's files. */
const NAME_BYTES = 4 * MB;
/** Memory for contents: the current file, running puts, and a pack in addition to its files. */
const CONTENT_BYTES = CONTEXT_LIMITS.fileBytes + MAX_PENDING_BYTES + 2 * CONTEXT_PACKS.packBytes;

/** Size of a manifest row without its path: hash, size and JSON syntax. */
const ROW_BYTES = 200;
/** Size of a manifest with the maximum number of files and the longest paths, without escapes. */
export const MANIFEST_BYTES = CONTEXT_LIMITS.files * (PATH_LIMITS.pathBytes + ROW_BYTES);
/**
 * Memory of a manifest in relation to its size: text, files, parent folders and the stored tree.
 * Measured with the longest paths, 40 levels deep.
 */
const MANIFEST_COPIES = 6;

/** What an upload sends: a kind of archive, a single blob, or a manifest. */
export type UploadKind = "zip" | "gzip" | "tar" | "blob" | "manifest";

/**
 * The maximum memory of an upload in bytes. `length`: length of the body; `null` if unknown.
 * Ignores the length of a zip and a gzip, because the contents can be much larger than the body. A
 * zip also needs two pieces of the stored archive in memory.
 */
export function memoryOf(kind: UploadKind, length: number | null): number {
  const body = length ?? Number.POSITIVE_INFINITY;
  switch (kind) {
    case "zip":
      return NAME_BYTES + CONTENT_BYTES + 2 * PIECE_BYTES;
    case "gzip":
      return NAME_BYTES + CONTENT_BYTES;
    case "tar":
      return NAME_BYTES + Math.min(2 * body, CONTENT_BYTES);
    case "blob":
      return NAME_BYTES + Math.min(body, CONTEXT_LIMITS.fileBytes);
    case "manifest":
      return NAME_BYTES + MANIFEST_COPIES * Math.min(body, MANIFEST_BYTES);
    default:
      return kind satisfies never;
  }
}

/** Limits of the uploads in one isolate. Times are in ms. */
export type MemoryLimits = {
  /** Maximum total memory of all admitted uploads. One tenant may use half of it. */
  bytes: number;
  /** Maximum number of waiting uploads. One tenant may have half of them. */
  maxWaiting: number;
  /** A waiting upload is removed if it has not polled for this time. */
  maxPollGapMs: number;
  /** An admitted upload loses its memory if it has reported no progress for this time. */
  maxIdleMs: number;
  /** Maximum total duration of an upload. */
  maxDurationMs: number;
  /**
   * The upload may wait for the client's bytes for this time without a minimum speed. After this
   * time its average speed must be at least `minBytesPerSecond`.
   */
  slowAfterMs: number;
  minBytesPerSecond: number;
};

/** An isolate has 128 MB of memory. Memory that uploads may not use is for other work. */
export const MEMORY_LIMITS: MemoryLimits = {
  bytes: 80 * MB,
  maxWaiting: 32,
  maxPollGapMs: 5_000,
  maxIdleMs: 60_000,
  maxDurationMs: 30 * 60_000,
  slowAfterMs: 10_000,
  minBytesPerSecond: 32_000,
};

/** The memory of one upload that is admitted or waits. Times are in Unix ms. */
export type Reservation = {
  readonly tenant: string;
  bytes: number;
  isAdmitted: boolean;
  /** Time of the admission; before the admission, time of the request. */
  startedAt: number;
  /** The last time at which the upload polled or reported progress. */
  seenAt: number;
  /** Bytes of the body that have arrived. */
  receivedBytes: number;
  /** Total time of waiting for the body, without the current wait. */
  waitedMs: number;
  /** Start of the current wait for the body; `null` if the upload does not wait for it. */
  waitStartedAt: number | null;
};

/**
 * The memory that all uploads of one isolate share. Uploads start in the order of arrival, so that
 * small uploads cannot delay a large upload forever. But an upload of a tenant that already uses
 * its half is passed over. Every admitted upload must report progress: if a client disconnects, the
 * platform may end the request without a callback. `now` is in Unix ms.
 */
export class MemoryBudget {
  readonly #limits: MemoryLimits;
  /** All admitted and waiting uploads, in the order of arrival. */
  readonly #reservations = new Set<Reservation>();

  constructor(limits: MemoryLimits = MEMORY_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Adds an upload that needs `bytes` of memory. Returns `null` if too many uploads wait, in total
   * or from this tenant.
   */
  enqueue(tenant: string, bytes: number, now: number): Reservation | null {
    this.#removeExpired(now);
    const { maxWaiting } = this.#limits;
    const waiting = this.#waiting();
    const waitingOfTenant = waiting.filter((reservation) => reservation.tenant === tenant);
    if (waiting.length >= maxWaiting || waitingOfTenant.length >= maxWaiting / 2) return null;
    const reservation = {
      ...{ tenant, bytes: Math.min(bytes, this.#share), isAdmitted: false },
      ...{ startedAt: now, seenAt: now, receivedBytes: 0, waitedMs: 0, waitStartedAt: null },
    };
    this.#reservations.add(reservation);
    return reservation;
  }

  /**
   * Whether the upload may start. Call it repeatedly until it returns `true`. An upload that polls
   * too rarely is removed and never starts.
   */
  tryStart(reservation: Reservation, now: number): boolean {
    reservation.seenAt = now;
    this.#removeExpired(now);
    const next = this.#next();
    if (reservation.isAdmitted || next !== reservation || reservation.bytes > this.#free())
      return reservation.isAdmitted;
    reservation.isAdmitted = true;
    reservation.startedAt = now;
    return true;
  }

  /**
   * Reports progress of an upload. If the result is `false`, the upload must stop, because another
   * upload may already use its memory.
   */
  reportProgress(reservation: Reservation, now: number): boolean {
    this.#removeExpired(now);
    reservation.seenAt = now;
    return this.#reservations.has(reservation);
  }

  /** Reports that the upload starts to wait for bytes of its body. */
  startWait(reservation: Reservation, now: number): void {
    reservation.waitStartedAt ??= now;
  }

  /**
   * Reports that bytes of the body have arrived. If the result is `false`, the upload must stop, as
   * in `reportProgress`.
   */
  receive(reservation: Reservation, bytes: number, now: number): boolean {
    reservation.waitedMs +=
      reservation.waitStartedAt === null ? 0 : now - reservation.waitStartedAt;
    reservation.waitStartedAt = null;
    reservation.receivedBytes += bytes;
    return this.reportProgress(reservation, now);
  }

  /**
   * Increases the memory of an admitted upload to `bytes`. Returns `false` if there is not enough
   * memory now. Above the half of its tenant, an upload can grow only while no other tenant waits.
   */
  grow(reservation: Reservation, bytes: number, now: number): boolean {
    this.#removeExpired(now);
    const more = bytes - reservation.bytes;
    if (more <= 0) return true;
    const exceedsShare = this.#bytesOf(reservation.tenant) + more > this.#share;
    const othersWait = this.#waiting().some(({ tenant }) => tenant !== reservation.tenant);
    if (exceedsShare && othersWait) return false;
    if (more > this.#free()) return false;
    reservation.bytes = bytes;
    return true;
  }

  /** Releases the memory of an upload. Safe to repeat. */
  release(reservation: Reservation): void {
    this.#reservations.delete(reservation);
  }

  /** Maximum memory of one tenant. */
  get #share(): number {
    return this.#limits.bytes / 2;
  }

  /**
   * The upload that starts next: the oldest that fits into the half of its tenant. Within a tenant,
   * the order never changes.
   */
  #next(): Reservation | undefined {
    const firstOfTenants = new Map<string, Reservation>();
    for (const reservation of this.#waiting())
      if (!firstOfTenants.has(reservation.tenant))
        firstOfTenants.set(reservation.tenant, reservation);
    return [...firstOfTenants.values()].find(
      ({ tenant, bytes }) => this.#bytesOf(tenant) + bytes <= this.#share,
    );
  }

  #waiting(): Reservation[] {
    return [...this.#reservations].filter(({ isAdmitted }) => !isAdmitted);
  }

  #bytesOf(tenant: string): number {
    return this.#admittedBytes((reservation) => reservation.tenant === tenant);
  }

  #free(): number {
    return this.#limits.bytes - this.#admittedBytes(() => true);
  }

  #admittedBytes(isCounted: (reservation: Reservation) => boolean): number {
    return [...this.#reservations]
      .filter((reservation) => reservation.isAdmitted && isCounted(reservation))
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #removeExpired(now: number): void {
    const { maxPollGapMs, maxIdleMs, maxDurationMs } = this.#limits;
    for (const reservation of this.#reservations) {
      const { isAdmitted, startedAt, seenAt } = reservation;
      const isExpired = isAdmitted
        ? now - seenAt > maxIdleMs ||
          now - startedAt > maxDurationMs ||
          this.#isSlow(reservation, now)
        : now - seenAt > maxPollGapMs;
      if (isExpired) this.#reservations.delete(reservation);
    }
  }

  /** Whether the client is too slow. Time in which the service itself works does not count. */
  #isSlow({ receivedBytes, waitedMs, waitStartedAt }: Reservation, now: number): boolean {
    const waited = waitedMs + (waitStartedAt === null ? 0 : now - waitStartedAt);
    const { slowAfterMs, minBytesPerSecond } = this.#limits;
    return waited > slowAfterMs && receivedBytes * 1_000 < waited * minBytesPerSecond;
  }
}
