import { CONTEXT_LIMITS } from "../protocol/contexts";
import { PATH_LIMITS } from "../workspace/paths";
import { ON_THEIR_WAY_BYTES } from "./blob-writer";
import { CONTEXT_PACKS } from "./packs";
import { PIECE_BYTES } from "./spool";

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
  /** What all inside may hold, in bytes. */
  bytes: number;
  /** How many may wait. */
  waiting: number;
  /** Who has not asked for so long no longer waits. */
  silentMs: number;
  /** An upload of which nothing comes for so long loses its room. */
  stillMs: number;
  /** So does one that takes longer than this in all. */
  longestMs: number;
};

/** Of an isolate's 128 MB the rest is for everything else that runs in it. */
const LIMITS: RoomLimits = { bytes: 80 * MB, waiting: 32, silentMs: 5_000, stillMs: 60_000, longestMs: 30 * 60_000 };

/** One upload that is inside or waits. */
export type Visit = { readonly bytes: number; isInside: boolean; begunAt: number; seenAt: number };

/**
 * The memory that uploads share in one isolate: who finds no room waits, in order, so that none too large is overtaken for ever. All
 * who are in it show that they still are, for the platform may end a request whose client has left without another word of it.
 * `now`: unix ms.
 */
export class UploadRoom {
  readonly #limits: RoomLimits;
  /** In the order in which they came. */
  readonly #visits = new Set<Visit>();

  constructor(limits: RoomLimits = LIMITS) {
    this.#limits = limits;
  }

  /** One more that wants so many bytes; null if too many wait. */
  come(bytes: number, now: number): Visit | null {
    this.#tidy(now);
    if (this.#waiting().length >= this.#limits.waiting) return null;
    const visit = { bytes: Math.min(bytes, this.#limits.bytes), isInside: false, begunAt: now, seenAt: now };
    this.#visits.add(visit);
    return visit;
  }

  /** Whether it may begin. To be asked again and again until it may; who was silent for too long may never. */
  mayBegin(visit: Visit, now: number): boolean {
    visit.seenAt = now;
    this.#tidy(now);
    if (visit.isInside || this.#waiting()[0] !== visit || visit.bytes > this.#free()) return visit.isInside;
    visit.isInside = true;
    visit.begunAt = now;
    return true;
  }

  /** Says that an upload goes on. False: its room may be another's by now, so it must not. */
  goesOn(visit: Visit, now: number): boolean {
    this.#tidy(now);
    visit.seenAt = now;
    return this.#visits.has(visit);
  }

  /** More than once is the same as once. */
  leave(visit: Visit): void {
    this.#visits.delete(visit);
  }

  #waiting(): Visit[] {
    return [...this.#visits].filter(({ isInside }) => !isInside);
  }

  #free(): number {
    return [...this.#visits].reduce((free, { bytes, isInside }) => free - (isInside ? bytes : 0), this.#limits.bytes);
  }

  #tidy(now: number): void {
    const { silentMs, stillMs, longestMs } = this.#limits;
    for (const visit of this.#visits) {
      const { isInside, begunAt, seenAt } = visit;
      const isGone = isInside ? now - seenAt > stillMs || now - begunAt > longestMs : now - seenAt > silentMs;
      if (isGone) this.#visits.delete(visit);
    }
  }
}
