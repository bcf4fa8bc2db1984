import { z } from "zod";
import { hashOf } from "../workspace/snapshot";
import type { Member } from "../workspace/pack-reader";
import { BlobWriter } from "./blob-writer";
import { joined } from "./byte-queue";
import type { StoredManifest } from "./manifest-text";

/**
 * Small contents that arrive together are packed, so that a search of a tree reads a few packs.
 * Contents above `smallBytes` are separate objects, as are those of a pack with fewer than
 * `fewest`. Readers keep `kept` packs in memory.
 */
export const CONTEXT_PACKS = {
  smallBytes: 64 * 1024,
  packBytes: 4_000_000,
  fewest: 8,
  kept: 2,
} as const;

/** Positions of packed contents by hash. `from` is the version whose upload created the pack. */
export type Places = ReadonlyMap<string, Member & { from: string }>;
/** The same for a version's own packs. */
export type OwnPlaces = ReadonlyMap<string, Member>;

const IndexSchema = z.array(z.tuple([z.string(), z.number(), z.number()]));
const PlacesSchema = z.object({
  packs: z.array(z.tuple([z.string(), z.string()])),
  blobs: z.array(z.tuple([z.string(), z.number(), z.number(), z.number()])),
});

/** The index of a pack. */
const encodeIndex = (members: OwnPlaces): string =>
  JSON.stringify([...members].map(([hash, { at, size }]) => [hash, at, size]));

/** Throws unless `encodeIndex` wrote the text. */
export const decodeIndex = (pack: string, text: string): OwnPlaces =>
  new Map(
    IndexSchema.parse(JSON.parse(text)).map(([hash, at, size]) => [hash, { pack, at, size }]),
  );

/** Lists each pack once, because names are long. */
export function encodePlaces(places: Places): string {
  const packs = new Map<string, number>();
  const nthOf = ({ from, pack }: { from: string; pack: string }): number => {
    const key = `${from} ${pack}`;
    const nth = packs.get(key) ?? packs.size;
    packs.set(key, nth);
    return nth;
  };
  const blobs = [...places].map(([hash, place]) => [hash, nthOf(place), place.at, place.size]);
  return JSON.stringify({ packs: [...packs.keys()].map((key) => key.split(" ")), blobs });
}

/** Throws unless `encodePlaces` wrote the text. */
export function decodePlaces(text: string): Places {
  const { packs, blobs } = PlacesSchema.parse(JSON.parse(text));
  return new Map(
    blobs.map(([hash, nth, at, size]) => {
      const [from = "", pack = ""] = packs[nth] ?? [];
      return [hash, { from, pack, at, size }];
    }),
  );
}

/**
 * Positions of a manifest's packed contents: in its own packs, and inherited from the version it
 * was built on.
 */
export function placesIn(
  manifest: StoredManifest,
  version: string,
  own: OwnPlaces,
  older: Places,
): Places {
  const places = new Map<string, Member & { from: string }>();
  for (const { hash, from } of manifest.values()) {
    const mine = from === version ? own.get(hash) : undefined;
    const inherited = older.get(hash);
    if (mine) places.set(hash, { ...mine, from });
    else if (inherited?.from === from) places.set(hash, inherited);
  }
  return places;
}

/** Storage for contents. */
export type PackStore = {
  putBlob(hash: string, bytes: Uint8Array): Promise<void>;
  /** `index` is the result of `encodeIndex`. */
  putPack(hash: string, bytes: Uint8Array, index: string): Promise<void>;
};
type Blob = { hash: string; bytes: Uint8Array };

/**
 * Stores blobs, each hash once: small ones in packs in order of arrival, others with limited
 * concurrency.
 */
export class PackWriter {
  readonly #store: PackStore;
  readonly #stored: Set<string>;
  readonly #single: BlobWriter;
  #waiting: Blob[] = [];
  #waitingBytes = 0;

  /** `stored` are hashes that exist already. */
  constructor(store: PackStore, stored: Iterable<string> = []) {
    this.#store = store;
    this.#stored = new Set(stored);
    this.#single = new BlobWriter((hash, bytes) => store.putBlob(hash, bytes));
  }

  /** Waits while too much is in progress. */
  async put(hash: string, bytes: Uint8Array): Promise<void> {
    if (this.#stored.has(hash)) return;
    this.#stored.add(hash);
    const { smallBytes, packBytes } = CONTEXT_PACKS;
    if (bytes.byteLength === 0 || bytes.byteLength > smallBytes)
      return this.#single.put(hash, bytes);
    if (this.#waitingBytes + bytes.byteLength > packBytes) await this.#flush();
    this.#waiting.push({ hash, bytes });
    this.#waitingBytes += bytes.byteLength;
  }

  /** Stores the last pack, and waits until everything is stored. */
  async end(): Promise<void> {
    try {
      await this.#flush();
    } finally {
      await this.#single.end();
    }
  }

  async #flush(): Promise<void> {
    const [waiting, size] = [this.#waiting, this.#waitingBytes];
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (waiting.length < CONTEXT_PACKS.fewest) {
      for (const { hash, bytes } of waiting) await this.#single.put(hash, bytes);
      return;
    }
    const members = new Map<string, Member>();
    let at = 0;
    for (const { hash, bytes } of waiting) {
      members.set(hash, { pack: "", at, size: bytes.byteLength });
      at += bytes.byteLength;
    }
    const pack = joined(
      waiting.map(({ bytes }) => bytes),
      size,
    );
    await this.#store.putPack(await hashOf(pack), pack, encodeIndex(members));
  }
}
