import { z } from "zod";
import { hashOf } from "../workspace/snapshot";
import type { Member } from "../workspace/pack-reader";
import { BlobWriter } from "./blob-writer";
import { joined } from "./byte-queue";
import type { StoredManifest } from "./stored-manifest";

/**
 * Small contents that come together lie together, so that whoever searches a tree reads a few packs and not each file. What is
 * larger than `smallBytes` lies on its own; so does what would be a pack of fewer than `fewest`. Whoever reads keeps `kept` in memory.
 */
export const CONTEXT_PACKS = {
  smallBytes: 64 * 1024,
  packBytes: 4_000_000,
  fewest: 8,
  kept: 2,
} as const;

/** Where contents lie in packs, by their hash. `from`: the version with whose upload the pack came. */
export type Places = ReadonlyMap<string, Member & { from: string }>;
/** The same of one version's own packs. */
export type OwnPlaces = ReadonlyMap<string, Member>;

const IndexSchema = z.array(z.tuple([z.string(), z.number(), z.number()]));
const PlacesSchema = z.object({
  packs: z.array(z.tuple([z.string(), z.string()])),
  blobs: z.array(z.tuple([z.string(), z.number(), z.number(), z.number()])),
});

/** What a pack holds. */
export const encodeIndex = (members: OwnPlaces): string =>
  JSON.stringify([...members].map(([hash, { at, size }]) => [hash, at, size]));

/** Throws for what `encodeIndex` did not write. */
export const decodeIndex = (pack: string, text: string): OwnPlaces =>
  new Map(
    IndexSchema.parse(JSON.parse(text)).map(([hash, at, size]) => [hash, { pack, at, size }]),
  );

/** Packs are named once: their names are long. */
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

/** Throws for what `encodePlaces` did not write. */
export function decodePlaces(text: string): Places {
  const { packs, blobs } = PlacesSchema.parse(JSON.parse(text));
  return new Map(
    blobs.map(([hash, nth, at, size]) => {
      const [from = "", pack = ""] = packs[nth] ?? [];
      return [hash, { from, pack, at, size }];
    }),
  );
}

/** What a version's manifest names and what lies in packs: in its own, and where the version has it that it was built on. */
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

/** Where what comes is put. */
export type PackStore = {
  putBlob(hash: string, bytes: Uint8Array): Promise<void>;
  /** `index`: as `encodeIndex` writes it. */
  putPack(hash: string, bytes: Uint8Array, index: string): Promise<void>;
};
type Blob = { hash: string; bytes: Uint8Array };

/** Stores blobs, each hash once: small ones in packs as they come, others a few at a time. */
export class PackWriter {
  readonly #store: PackStore;
  readonly #stored: Set<string>;
  readonly #single: BlobWriter;
  #waiting: Blob[] = [];
  #waitingBytes = 0;

  /** `stored`: hashes that are there already. */
  constructor(store: PackStore, stored: Iterable<string> = []) {
    this.#store = store;
    this.#stored = new Set(stored);
    this.#single = new BlobWriter((hash, bytes) => store.putBlob(hash, bytes));
  }

  /** Waits while too much is on its way. */
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

  /** Stores what waits for its pack to become full, and waits until everything is stored. */
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
