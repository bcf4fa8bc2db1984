import type { FileEntry } from "../../../src/workspace/types";
import { READ_AHEAD } from "../../shared/object-limits";

/** Reads in the order of the tree from which on they count as a search. */
const SEARCH_READS = 3;
/** Files that a search may leave out between two reads. */
const MAX_GAP = 16;
/** Searches that are followed at the same time. Each agent may run one. */
const MAX_SEARCHES = 8;

/** The object in storage that has some contents: its name, and its size in bytes. */
export type StoredAs = { name: string; bytes: number };

/** An object. `first`: position of its first file. `entry`: that file. */
type PlacedObject = { first: number; entry: FileEntry; bytes: number };

/**
 * A reader that reads files in the order of the tree. `position`: of its latest read. `next`: index
 * of the first object that has not been read ahead for it.
 */
type Search = { position: number; reads: number; next: number };

/**
 * Finds out which objects a search in a context needs next. A search reads the files of a tree in
 * their order, and would wait for each object. So objects are read before they are needed.
 */
export class ReadAhead {
  /** Position of the first file with these contents, by hash. */
  readonly #positions = new Map<string, number>();
  /** Sorted by the position of their first file. */
  readonly #objects: readonly PlacedObject[];
  /** The most recent search is last. */
  #searches: Search[] = [];

  /**
   * `entries`: the files in the order of the tree. `storedAs`: the object of a file; `null` if the
   * file is never read ahead.
   */
  constructor(entries: Iterable<FileEntry>, storedAs: (entry: FileEntry) => StoredAs | null) {
    const objects = new Map<string, PlacedObject>();
    for (const entry of entries) {
      if (entry.size === 0 || this.#positions.has(entry.hash)) continue;
      const first = this.#positions.size;
      this.#positions.set(entry.hash, first);
      const stored = storedAs(entry);
      if (!stored) continue;
      const object = objects.get(stored.name) ?? { first, entry, bytes: 0 };
      object.bytes = Math.max(object.bytes, stored.bytes);
      objects.set(stored.name, object);
    }
    this.#objects = [...objects.values()];
  }

  /**
   * To be called for each read of contents. Returns whether the read belongs to a search, and the
   * first file of each object that is to be read ahead now.
   */
  noteRead(hash: string): { isSearch: boolean; ahead: FileEntry[] } {
    const position = this.#positions.get(hash);
    const search = position === undefined ? null : this.#searchAt(position);
    if (!search || search.reads < SEARCH_READS) return { isSearch: false, ahead: [] };
    return { isSearch: true, ahead: this.#take(search) };
  }

  #searchAt(position: number): Search {
    const isNext = (search: Search) =>
      position >= search.position && position <= search.position + MAX_GAP;
    const search = this.#searches.findLast(isNext) ?? { position: -1, reads: 0, next: 0 };
    if (position > search.position) search.reads += 1;
    search.position = position;
    const others = this.#searches.filter((other) => other !== search);
    this.#searches = [...others, search].slice(-MAX_SEARCHES);
    return search;
  }

  /** The next objects of a search, so that as many are ahead of it as the limits allow. */
  #take(search: Search): FileEntry[] {
    const firstAhead = this.#firstAfter(search.position);
    const requested = this.#objects.slice(firstAhead, search.next);
    let bytes = requested.reduce((sum, object) => sum + object.bytes, 0);
    search.next = Math.max(search.next, firstAhead);
    const taken: FileEntry[] = [];
    for (const object of this.#objects.slice(search.next, firstAhead + READ_AHEAD.objects)) {
      bytes += object.bytes;
      if (bytes > READ_AHEAD.bytes) break;
      taken.push(object.entry);
      search.next += 1;
    }
    return taken;
  }

  /** Index of the first object whose first file is after `position`. */
  #firstAfter(position: number): number {
    let [low, high] = [0, this.#objects.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#objects[middle]?.first ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
