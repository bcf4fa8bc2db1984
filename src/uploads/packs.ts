import * as z from "zod";
import { hashOf } from "../workspace/snapshot";
import type { Member } from "../workspace/pack-reader";
import { BlobWriter } from "./blob-writer";
import { joinBytes } from "./byte-queue";
import type { StoredManifest } from "./manifest-text";

/**
 * Small contents that arrive together are stored in packs, so that a search in a tree reads only
 * few objects. A pack has at most `packBytes`. Contents larger than `smallBytes` are separate
 * objects. If a pack would have fewer than `minFiles` contents, these are separate objects too. A
 * reader has packs of `cachedBytes` bytes in memory: three full packs, or many small ones.
 */
export const CONTEXT_PACKS = {
  smallBytes: 64 * 1024,
  packBytes: 4_000_000,
  minFiles: 8,
  cachedBytes: 12_000_000,
} as const;

/** Where packed contents are stored, by hash. `from`: the version whose upload stored the pack. */
export type Places = ReadonlyMap<string, Member & { from: string }>;
/** Where contents are stored in a version's own packs, by hash. */
export type OwnPlaces = ReadonlyMap<string, Member>;

const IndexSchema = z.array(z.tuple([z.string(), z.number(), z.number()]));
const PlacesSchema = z.object({
  packs: z.array(z.tuple([z.string(), z.string()])),
  blobs: z.array(z.tuple([z.string(), z.number(), z.number(), z.number()])),
});

/** The stored index of a pack: the position and size of each of its contents. */
const encodeIndex = (members: OwnPlaces): string =>
  JSON.stringify([...members].map(([hash, { at, size }]) => [hash, at, size]));

/** Parses a text of `encodeIndex`. Throws for any other text. `pack`: name of the pack. */
export const decodeIndex = (pack: string, text: string): OwnPlaces =>
  new Map(
    IndexSchema.parse(JSON.parse(text)).map(([hash, at, size]) => [hash, { pack, at, size }]),
  );

/**
 * The text in which places are stored. It lists each pack only once, because the names of packs are
 * long.
 */
export function encodePlaces(places: Places): string {
  const packs = new Map<string, number>();
  const packIndexOf = ({ from, pack }: { from: string; pack: string }): number => {
    const key = `${from} ${pack}`;
    const index = packs.get(key) ?? packs.size;
    packs.set(key, index);
    return index;
  };
  const blobs = [...places].map(([hash, place]) => [
    hash,
    packIndexOf(place),
    place.at,
    place.size,
  ]);
  return JSON.stringify({ packs: [...packs.keys()].map((key) => key.split(" ")), blobs });
}

/** Parses a text of `encodePlaces`. Throws for any other text. */
export function decodePlaces(text: string): Places {
  const { packs, blobs } = PlacesSchema.parse(JSON.parse(text));
  return new Map(
    blobs.map(([hash, packIndex, at, size]) => {
      const [from = "", pack = ""] = packs[packIndex] ?? [];
      return [hash, { from, pack, at, size }];
    }),
  );
}

/**
 * Where the packed contents of a version are stored. `own`: places in the version's own packs.
 * `older`: the places of its base, for contents that the version shares with its base. The base may
 * have gathered contents of older versions into its own packs, so that their place is not in the
 * version that the manifest names.
 */
export function packedPlacesOf(
  manifest: StoredManifest,
  version: string,
  own: OwnPlaces,
  older: Places,
): Places {
  const places = new Map<string, Member & { from: string }>();
  for (const { hash, from } of manifest.values()) {
    const ownPlace = from === version ? own.get(hash) : undefined;
    const place = ownPlace ? { ...ownPlace, from } : older.get(hash);
    if (place) places.set(hash, place);
  }
  return places;
}

/** Storage for the contents of one upload. */
export type PackStore = {
  putBlob(hash: string, bytes: Uint8Array): Promise<void>;
  /** `index` is the result of `encodeIndex`. */
  putPack(hash: string, bytes: Uint8Array, index: string): Promise<void>;
};
type Blob = { hash: string; bytes: Uint8Array };

/**
 * Stores blobs, each hash only once. Small blobs are stored in packs, in the order of arrival.
 * Other blobs are stored separately, with limited concurrency.
 */
export class PackWriter {
  readonly #store: PackStore;
  readonly #stored: Set<string>;
  readonly #minFiles: number;
  readonly #blobWriter: BlobWriter;
  /** Small blobs for the next pack. */
  #unpacked: Blob[] = [];
  #unpackedBytes = 0;

  /**
   * `stored`: hashes of blobs that are already stored. `minFiles`: number of small blobs from which
   * on they are packed.
   */
  constructor(
    store: PackStore,
    stored: Iterable<string> = [],
    minFiles: number = CONTEXT_PACKS.minFiles,
  ) {
    this.#store = store;
    this.#stored = new Set(stored);
    this.#minFiles = minFiles;
    this.#blobWriter = new BlobWriter((hash, bytes) => store.putBlob(hash, bytes));
  }

  /** Adds a blob. Waits while too many blobs are being stored. */
  async put(hash: string, bytes: Uint8Array): Promise<void> {
    if (this.#stored.has(hash)) return;
    this.#stored.add(hash);
    const { smallBytes, packBytes } = CONTEXT_PACKS;
    if (bytes.byteLength === 0 || bytes.byteLength > smallBytes)
      return this.#blobWriter.put(hash, bytes);
    if (this.#unpackedBytes + bytes.byteLength > packBytes) await this.#storePack();
    this.#unpacked.push({ hash, bytes });
    this.#unpackedBytes += bytes.byteLength;
  }

  /** Stores the last pack, and waits until all blobs are stored. */
  async end(): Promise<void> {
    try {
      await this.#storePack();
    } finally {
      await this.#blobWriter.end();
    }
  }

  async #storePack(): Promise<void> {
    const [blobs, size] = [this.#unpacked, this.#unpackedBytes];
    this.#unpacked = [];
    this.#unpackedBytes = 0;
    if (blobs.length < this.#minFiles) {
      for (const { hash, bytes } of blobs) await this.#blobWriter.put(hash, bytes);
      return;
    }
    const members = new Map<string, Member>();
    let at = 0;
    for (const { hash, bytes } of blobs) {
      members.set(hash, { pack: "", at, size: bytes.byteLength });
      at += bytes.byteLength;
    }
    const pack = joinBytes(
      blobs.map(({ bytes }) => bytes),
      size,
    );
    await this.#store.putPack(await hashOf(pack), pack, encodeIndex(members));
  }
}
