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
export type RoomLimits = {
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
const LIMITS: RoomLimits = {
  bytes: 80 * MB,
  waiting: 32,
  silentMs: 5_000,
  stillMs: 60_000,
  longestMs: 30 * 60_000,
  paceAfterMs: 10_000,
  leastBytesPerSecond: 32_000,
};

/** An admitted or waiting upload. */
export type Visit = {
  readonly tenant: string;
  bytes: number;
  isInside: boolean;
  begunAt: number;
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
export class UploadRoom {
  readonly #limits: RoomLimits;
  /** In order of arrival. */
  readonly #visits = new Set<Visit>();

  constructor(limits: RoomLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Adds an upload of this size; `null` if too many wait in total or from this tenant. */
  come(tenant: string, bytes: number, now: number): Visit | null {
    this.#tidy(now);
    const waiting = this.#waiting();
    const own = waiting.filter((visit) => visit.tenant === tenant);
    if (waiting.length >= this.#limits.waiting || own.length >= this.#limits.waiting / 2)
      return null;
    const visit = {
      ...{ tenant, bytes: Math.min(bytes, this.#share), isInside: false },
      ...{ begunAt: now, seenAt: now, received: 0, waitedMs: 0, waitsSince: null },
    };
    this.#visits.add(visit);
    return visit;
  }

  /** Whether it may start. Call repeatedly; an upload that polls too rarely never starts. */
  mayBegin(visit: Visit, now: number): boolean {
    visit.seenAt = now;
    this.#tidy(now);
    const next = this.#next();
    if (visit.isInside || next !== visit || visit.bytes > this.#free()) return visit.isInside;
    visit.isInside = true;
    visit.begunAt = now;
    return true;
  }

  /** Reports progress. `false`: its memory may already be reused, so it must stop. */
  advances(visit: Visit, now: number): boolean {
    this.#tidy(now);
    visit.seenAt = now;
    return this.#visits.has(visit);
  }

  /** Starts a wait for bytes of its body. */
  waits(visit: Visit, now: number): void {
    visit.waitsSince ??= now;
  }

  /** Reports received bytes. `false`: see `advances`, or the upload is too slow. */
  came(visit: Visit, bytes: number, now: number): boolean {
    visit.waitedMs += visit.waitsSince === null ? 0 : now - visit.waitsSince;
    visit.waitsSince = null;
    visit.received += bytes;
    return this.advances(visit, now);
  }

  /**
   * Changes the size of an admitted upload. `false`: not enough memory now. Beyond its tenant's
   * half it can grow only while no other tenant waits.
   */
  grow(visit: Visit, bytes: number, now: number): boolean {
    this.#tidy(now);
    const more = bytes - visit.bytes;
    if (more <= 0) return true;
    const isBeyond = this.#heldBy(visit.tenant) + more > this.#share;
    if (isBeyond && this.#waiting().some(({ tenant }) => tenant !== visit.tenant)) return false;
    if (more > this.#free()) return false;
    visit.bytes = bytes;
    return true;
  }

  /** Idempotent. */
  leave(visit: Visit): void {
    this.#visits.delete(visit);
  }

  get #share(): number {
    return this.#limits.bytes / 2;
  }

  /**
   * The next upload: the oldest that fits into its tenant's half. Never passes another upload of
   * the same tenant.
   */
  #next(): Visit | undefined {
    const firsts = new Map<string, Visit>();
    for (const visit of this.#waiting())
      if (!firsts.has(visit.tenant)) firsts.set(visit.tenant, visit);
    return [...firsts.values()].find(
      ({ tenant, bytes }) => this.#heldBy(tenant) + bytes <= this.#share,
    );
  }

  #waiting(): Visit[] {
    return [...this.#visits].filter(({ isInside }) => !isInside);
  }

  #heldBy(tenant: string): number {
    return this.#held((visit) => visit.tenant === tenant);
  }

  #free(): number {
    return this.#limits.bytes - this.#held(() => true);
  }

  #held(whose: (visit: Visit) => boolean): number {
    return [...this.#visits]
      .filter((visit) => visit.isInside && whose(visit))
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #tidy(now: number): void {
    const { silentMs, stillMs, longestMs } = this.#limits;
    for (const visit of this.#visits) {
      const { isInside, begunAt, seenAt } = visit;
      const isGone = isInside
        ? now - seenAt > stillMs || now - begunAt > longestMs || this.#isSlow(visit, now)
        : now - seenAt > silentMs;
      if (isGone) this.#visits.delete(visit);
    }
  }

  /** Counts only time waiting for the client: a slow bucket is not the client's fault. */
  #isSlow({ received, waitedMs, waitsSince }: Visit, now: number): boolean {
    const waited = waitedMs + (waitsSince === null ? 0 : now - waitsSince);
    const { paceAfterMs, leastBytesPerSecond } = this.#limits;
    return waited > paceAfterMs && received * 1_000 < waited * leastBytesPerSecond;
  }
}
