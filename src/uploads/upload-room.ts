import { PATH_LIMITS } from "../workspace/paths";
import { ON_THEIR_WAY_BYTES } from "./blob-writer";
import { CONTEXT_PACKS } from "./packs";
import { PIECE_BYTES } from "./spool";
import { CONTEXT_LIMITS } from "../protocol/context-limits";

const MB = 1_000_000;

/** Of every upload: what its files are called and where they lie. */
const NAMES_BYTES = 4 * MB;
/** Of what is read as it comes: the file in hand, what is on its way to be stored, and a pack beside the files it is made of. */
const READ_BYTES = CONTEXT_LIMITS.fileBytes + ON_THEIR_WAY_BYTES + 2 * CONTEXT_PACKS.packBytes;

/** Of a file in a manifest, besides its path: its hash, its size, and what JSON needs. */
const ROW_BYTES = 200;
/** A manifest of as many files as a context has, with paths as long as they may be, written without escapes. */
export const MANIFEST_BYTES = CONTEXT_LIMITS.files * (PATH_LIMITS.pathBytes + ROW_BYTES);
/** Measured with the longest paths, 40 levels deep: its text, its files, every folder above one, and the tree as it is stored. */
const MANIFEST_COPIES = 6;

/** A blob by itself, a manifest, or what an archive is. */
export type UploadKind = "zip" | "gzip" | "tar" | "blob" | "manifest";

/**
 * The most that an upload has in memory at once, in bytes. `told`: the length of its body; null where nobody says. A zip has a piece
 * of itself in hand besides, and what is in it may be far more than its body.
 */
export function memoryOf(kind: UploadKind, told: number | null): number {
  const body = told ?? Number.POSITIVE_INFINITY;
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

/** Times in milliseconds. */
export type RoomLimits = {
  /** What all uploads inside may hold, in bytes. One tenant may hold half of it. */
  bytes: number;
  /** How many may wait, of which one tenant's may be half. */
  waiting: number;
  /** An upload that has not asked for so long no longer waits. */
  silentMs: number;
  /** An upload that shows no progress for so long loses its room. */
  stillMs: number;
  /** An upload that takes longer than this in all loses its room. */
  longestMs: number;
  /** After waiting so long for a client's bytes, an upload must have received `leastBytesPerSecond` on average. */
  paceAfterMs: number;
  leastBytesPerSecond: number;
};

/** Of an isolate's 128 MB the rest is for everything else that runs in it. */
const LIMITS: RoomLimits = {
  bytes: 80 * MB,
  waiting: 32,
  silentMs: 5_000,
  stillMs: 60_000,
  longestMs: 30 * 60_000,
  paceAfterMs: 10_000,
  leastBytesPerSecond: 32_000,
};

/** One upload that is inside or waits. */
export type Visit = {
  readonly tenant: string;
  bytes: number;
  isInside: boolean;
  begunAt: number;
  seenAt: number;
  /** Bytes of its body that have arrived. */
  received: number;
  /** How long the service has waited for bytes of its body, without the present wait. */
  waitedMs: number;
  /** Since when the service waits for bytes of its body; `null`: it does not wait for any. */
  waitsSince: number | null;
};

/**
 * The memory that uploads share in one isolate. An upload that finds no room waits, in order, so that a large one is never overtaken
 * for ever; only uploads of a tenant that has its half already are passed over. Every upload inside must show that it goes on, for
 * the platform may end a request whose client has left without a word. `now`: unix ms.
 */
export class UploadRoom {
  readonly #limits: RoomLimits;
  /** In the order in which they came. */
  readonly #visits = new Set<Visit>();

  constructor(limits: RoomLimits = LIMITS) {
    this.#limits = limits;
  }

  /** One more upload of a tenant that wants so many bytes; `null` if too many wait, of all tenants or of this one. */
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

  /** Whether it may begin. To be asked repeatedly; an upload that was silent for too long may never begin. */
  mayBegin(visit: Visit, now: number): boolean {
    visit.seenAt = now;
    this.#tidy(now);
    const next = this.#next();
    if (visit.isInside || next !== visit || visit.bytes > this.#free()) return visit.isInside;
    visit.isInside = true;
    visit.begunAt = now;
    return true;
  }

  /** Says that an upload goes on. `false`: its room may be another's by now, so it must stop. */
  goesOn(visit: Visit, now: number): boolean {
    this.#tidy(now);
    visit.seenAt = now;
    return this.#visits.has(visit);
  }

  /** The service begins to wait for bytes of its body. */
  waits(visit: Visit, now: number): void {
    visit.waitsSince ??= now;
  }

  /** So many bytes of its body have arrived. `false`: see `goesOn`; it came too slowly, for one. */
  came(visit: Visit, bytes: number, now: number): boolean {
    visit.waitedMs += visit.waitsSince === null ? 0 : now - visit.waitsSince;
    visit.waitsSince = null;
    visit.received += bytes;
    return this.goesOn(visit, now);
  }

  /**
   * An upload inside needs so many bytes in all from now on. `false`: there is no room for them now. Beyond its tenant's half it
   * grows only while no other tenant waits.
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

  /** More than once is the same as once. */
  leave(visit: Visit): void {
    this.#visits.delete(visit);
  }

  get #share(): number {
    return this.#limits.bytes / 2;
  }

  /** Whose turn it is: the oldest whose tenant's half has room for it. No upload overtakes another of its own tenant. */
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

  /** Only the time that the service waits for the client counts: a slow bucket is not the client's doing. */
  #isSlow({ received, waitedMs, waitsSince }: Visit, now: number): boolean {
    const waited = waitedMs + (waitsSince === null ? 0 : now - waitsSince);
    const { paceAfterMs, leastBytesPerSecond } = this.#limits;
    return waited > paceAfterMs && received * 1_000 < waited * leastBytesPerSecond;
  }
}
