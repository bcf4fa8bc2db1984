import { PATH_LIMITS } from "../workspace/paths";
import { ON_THEIR_WAY_BYTES } from "./blob-writer";
import { CONTEXT_PACKS } from "./packs";
import { PIECE_BYTES } from "./spool";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

const MB = 1_000_000;

/** Names and positions of an upload's files. */
const NAMES_BYTES = 4 * MB;
/** Memory of streamed contents: the current file, running puts, and a pack beside its files. */
const READ_BYTES = CONTEXT_LIMITS.fileBytes + ON_THEIR_WAY_BYTES + 2 * CONTEXT_PACKS.packBytes;

/** A manifest row besides its path: hash, size and JSON. */
const ROW_BYTES = 200;
/** A manifest with the maximum number of files and the longest paths, without escapes. */
export const MANIFEST_BYTES = CONTEXT_LIMITS.files * (PATH_LIMITS.pathBytes + ROW_BYTES);
/**
 * Measured with the longest paths, 40 levels deep: text, files, parent folders, and the stored
 * tree.
 */
const MANIFEST_COPIES = 6;

/** A single blob, a manifest, or a kind of archive. */
export type UploadKind = "zip" | "gzip" | "tar" | "blob" | "manifest";

/**
 * The maximum memory of an upload in bytes. `length` is the length of its body; `null` if unknown.
 * A zip also holds a piece of itself, and its contents may be far larger than its body.
 */
export function memoryOf(kind: UploadKind, length: number | null): number {
  const body = length ?? Number.POSITIVE_INFINITY;
  switch (kind) {
    case "zip":
      return NAMES_BYTES + READ_BYTES + 2 * PIECE_BYTES;
    case "gzip":
      return NAMES_BYTES + READ_BYTES;
    case "tar":
      return NAMES_BYTES + Math.min(2 * body, READ_BYTES);
    case "blob":
      return NAMES_BYTES + Math.min(body, CONTEXT_LIMITS.fileBytes);
    case "manifest":
      return NAMES_BYTES + MANIFEST_COPIES * Math.min(body, MANIFEST_BYTES);
    default:
      return kind satisfies never;
  }
}

/** Times in ms. */
export type MemoryLimits = {
  /** Total bytes of all admitted uploads. One tenant may use half. */
  bytes: number;
  /** Number of waiting uploads; at most half from one tenant. */
  waiting: number;
  /** A waiting upload that has not polled for this long is dropped. */
  silentMs: number;
  /** An admitted upload without progress for this long loses its memory. */
  stillMs: number;
  /** Maximum total duration of an upload. */
  longestMs: number;
  /**
   * After waiting this long for a client's bytes, an upload must have received
   * `leastBytesPerSecond` on average.
   */
  paceAfterMs: number;
  leastBytesPerSecond: number;
};

/** An isolate has 128 MB; the rest is for other work. */
export const MEMORY_LIMITS: MemoryLimits = {
  bytes: 80 * MB,
  waiting: 32,
  silentMs: 5_000,
  stillMs: 60_000,
  longestMs: 30 * 60_000,
  paceAfterMs: 10_000,
  leastBytesPerSecond: 32_000,
};

/** Memory of one upload, admitted or waiting. */
export type Reservation = {
  readonly tenant: string;
  bytes: number;
  isAdmitted: boolean;
  startedAt: number;
  seenAt: number;
  /** Bytes of its body that have arrived. */
  received: number;
  /** Total time waiting for its body, without the current wait. */
  waitedMs: number;
  /** Start of the current wait for its body; `null` if not waiting. */
  waitsSince: number | null;
};

/**
 * Memory shared by the uploads of one isolate. Uploads wait in order, so that a large one is never
 * starved; only those of a tenant that already uses its half are passed over. Every admitted upload
 * must report progress, because the platform may end a request whose client has left without
 * notice. `now` is in Unix ms.
 */
export class MemoryBudget {
  readonly #limits: MemoryLimits;
  /** In order of arrival. */
  readonly #reservations = new Set<Reservation>();

  constructor(limits: MemoryLimits = MEMORY_LIMITS) {
    this.#limits = limits;
  }

  /** Adds an upload of this size; `null` if too many wait in total or from this tenant. */
  enqueue(tenant: string, bytes: number, now: number): Reservation | null {
    this.#tidy(now);
    const waiting = this.#waiting();
    const own = waiting.filter((reservation) => reservation.tenant === tenant);
    if (waiting.length >= this.#limits.waiting || own.length >= this.#limits.waiting / 2)
      return null;
    const reservation = {
      ...{ tenant, bytes: Math.min(bytes, this.#share), isAdmitted: false },
      ...{ startedAt: now, seenAt: now, received: 0, waitedMs: 0, waitsSince: null },
    };
    this.#reservations.add(reservation);
    return reservation;
  }

  /** Whether it may start. Call repeatedly; an upload that polls too rarely never starts. */
  tryStart(reservation: Reservation, now: number): boolean {
    reservation.seenAt = now;
    this.#tidy(now);
    const next = this.#next();
    if (reservation.isAdmitted || next !== reservation || reservation.bytes > this.#free())
      return reservation.isAdmitted;
    reservation.isAdmitted = true;
    reservation.startedAt = now;
    return true;
  }

  /** Reports progress. `false`: its memory may already be reused, so it must stop. */
  reportProgress(reservation: Reservation, now: number): boolean {
    this.#tidy(now);
    reservation.seenAt = now;
    return this.#reservations.has(reservation);
  }

  /** Starts a wait for bytes of its body. */
  startWait(reservation: Reservation, now: number): void {
    reservation.waitsSince ??= now;
  }

  /** Reports received bytes. `false`: see `reportProgress`, or the upload is too slow. */
  receive(reservation: Reservation, bytes: number, now: number): boolean {
    reservation.waitedMs += reservation.waitsSince === null ? 0 : now - reservation.waitsSince;
    reservation.waitsSince = null;
    reservation.received += bytes;
    return this.reportProgress(reservation, now);
  }

  /**
   * Changes the size of an admitted upload. `false`: not enough memory now. Beyond its tenant's
   * half it can grow only while no other tenant waits.
   */
  grow(reservation: Reservation, bytes: number, now: number): boolean {
    this.#tidy(now);
    const more = bytes - reservation.bytes;
    if (more <= 0) return true;
    const isBeyond = this.#bytesOf(reservation.tenant) + more > this.#share;
    if (isBeyond && this.#waiting().some(({ tenant }) => tenant !== reservation.tenant))
      return false;
    if (more > this.#free()) return false;
    reservation.bytes = bytes;
    return true;
  }

  /** Idempotent. */
  release(reservation: Reservation): void {
    this.#reservations.delete(reservation);
  }

  get #share(): number {
    return this.#limits.bytes / 2;
  }

  /**
   * The next upload: the oldest that fits into its tenant's half. Never passes another upload of
   * the same tenant.
   */
  #next(): Reservation | undefined {
    const firsts = new Map<string, Reservation>();
    for (const reservation of this.#waiting())
      if (!firsts.has(reservation.tenant)) firsts.set(reservation.tenant, reservation);
    return [...firsts.values()].find(
      ({ tenant, bytes }) => this.#bytesOf(tenant) + bytes <= this.#share,
    );
  }

  #waiting(): Reservation[] {
    return [...this.#reservations].filter(({ isAdmitted }) => !isAdmitted);
  }

  #bytesOf(tenant: string): number {
    return this.#held((reservation) => reservation.tenant === tenant);
  }

  #free(): number {
    return this.#limits.bytes - this.#held(() => true);
  }

  #held(whose: (reservation: Reservation) => boolean): number {
    return [...this.#reservations]
      .filter((reservation) => reservation.isAdmitted && whose(reservation))
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #tidy(now: number): void {
    const { silentMs, stillMs, longestMs } = this.#limits;
    for (const reservation of this.#reservations) {
      const { isAdmitted, startedAt, seenAt } = reservation;
      const isGone = isAdmitted
        ? now - seenAt > stillMs || now - startedAt > longestMs || this.#isSlow(reservation, now)
        : now - seenAt > silentMs;
      if (isGone) this.#reservations.delete(reservation);
    }
  }

  /** Counts only time waiting for the client: a slow bucket is not the client's fault. */
  #isSlow({ received, waitedMs, waitsSince }: Reservation, now: number): boolean {
    const waited = waitedMs + (waitsSince === null ? 0 : now - waitsSince);
    const { paceAfterMs, leastBytesPerSecond } = this.#limits;
    return waited > paceAfterMs && received * 1_000 < waited * leastBytesPerSecond;
  }
}
