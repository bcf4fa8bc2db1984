import { inOrder } from "../src/async/in-order";
import type { Bucket } from "./bucket";
import { pacedPut } from "./paced-bucket";

/** Objects that R2 lists or deletes per request. */
const MAX_PER_REQUEST = 1_000;

/**
 * Identifies a version of a context. An unfinished upload is a version too. Version ids are unique
 * per tenant and are never reused.
 */
export type VersionPlace = { tenant: string; version: string };

const versionPrefix = ({ tenant, version }: VersionPlace): string =>
  `tenants/${tenant}/contexts/${version}/`;
const blobsPrefix = (place: VersionPlace): string => `${versionPrefix(place)}blobs/`;
const packsPrefix = (place: VersionPlace): string => `${versionPrefix(place)}packs/`;
const placesKey = (place: VersionPlace): string => `${versionPrefix(place)}packs.json`;
const manifestKey = (place: VersionPlace): string => `${versionPrefix(place)}manifest.json`;
const pieceKey = (place: VersionPlace, index: number): string =>
  `${versionPrefix(place)}upload/${String(index).padStart(6, "0")}`;

/**
 * Writes only if the object does not exist. If the object exists, R2 returns `null`. Its contents
 * are then the same, because the key contains the hash of the contents.
 */
const IF_NEW = { onlyIf: { etagDoesNotMatch: "*" } } as const;

/** Suffix of a pack's index. */
const INDEX = ".json";

/**
 * Number of objects that one request reads from R2 at the same time. The platform allows six
 * connections per request; D1 and a write may need the others.
 */
export const READS_AT_ONCE = 4;

/** Hashes of blobs and packs of a version. */
export type Contents = { blobs: ReadonlySet<string>; packs: ReadonlySet<string> };

/** The public methods, as a type that fakes can implement. */
export type ContextBlobs = Pick<ContextFiles, keyof ContextFiles>;

/** Reads and writes uploaded contexts: blobs by hash, packs, manifests, and pieces of archives. */
export class ContextFiles {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Writes a blob. `hash` must be the hash of `bytes`. Idempotent. */
  async putBlob(place: VersionPlace, hash: string, bytes: Uint8Array): Promise<void> {
    await pacedPut(this.#bucket, blobsPrefix(place) + hash, bytes, IF_NEW);
  }

  /** The hashes of all blobs that are separate objects. */
  async blobs(place: VersionPlace): Promise<Set<string>> {
    const hashes = new Set<string>();
    for await (const names of this.#names(blobsPrefix(place)))
      for (const name of names) hashes.add(name);
    return hashes;
  }

  /**
   * Writes a pack: several contents in one object. `hash` is the hash of the whole pack. The index
   * is written last, because it marks the pack as complete.
   */
  async putPack(
    place: VersionPlace,
    hash: string,
    bytes: Uint8Array,
    index: string,
  ): Promise<void> {
    const key = packsPrefix(place) + hash;
    await pacedPut(this.#bucket, key, bytes, IF_NEW);
    await this.#bucket.put(key + INDEX, index, IF_NEW);
  }

  /** The index of each pack of this version. */
  async packIndexes(place: VersionPlace): Promise<{ pack: string; text: string }[]> {
    const prefix = packsPrefix(place);
    const indexes: { pack: string; text: string }[] = [];
    const readIndex = async (name: string) => ({
      pack: name.slice(0, -INDEX.length),
      text: await (await this.#bucket.get(prefix + name))?.text(),
    });
    for await (const names of this.#names(prefix)) {
      const indexNames = names.filter((name) => name.endsWith(INDEX));
      for await (const { pack, text } of inOrder(indexNames, READS_AT_ONCE, readIndex))
        if (text !== undefined) indexes.push({ pack, text });
    }
    return indexes;
  }

  /** Reads a pack or a range of it; `null` if the pack is missing. */
  async pack(
    place: VersionPlace,
    hash: string,
    range?: { offset: number; length: number },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const object = await this.#bucket.get(packsPrefix(place) + hash, range && { range });
    return object && new Uint8Array(await object.arrayBuffer());
  }

  /**
   * Writes the positions of packed contents. If the version has positions already, returns those.
   */
  putPlaces(place: VersionPlace, text: string): Promise<string> {
    return this.#putOnce(placesKey(place), text);
  }

  /** The positions of packed contents; `null` if nothing is packed. */
  async places(place: VersionPlace): Promise<string | null> {
    return (await (await this.#bucket.get(placesKey(place)))?.text()) ?? null;
  }

  /** Reads a blob; `null` if it is missing. */
  async blob(place: VersionPlace, hash: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const object = await this.#bucket.get(blobsPrefix(place) + hash);
    return object && new Uint8Array(await object.arrayBuffer());
  }

  /** A blob as a stream; `null` if it is missing. */
  async blobStream(place: VersionPlace, hash: string): Promise<ReadableStream<Uint8Array> | null> {
    return (await this.#bucket.get(blobsPrefix(place) + hash))?.body ?? null;
  }

  /**
   * Writes the manifest of a version. If the version has a manifest already, returns that manifest.
   */
  putManifest(place: VersionPlace, text: string): Promise<string> {
    return this.#putOnce(manifestKey(place), text);
  }

  /** The manifest of a version; `null` if missing. */
  async manifest(place: VersionPlace): Promise<string | null> {
    return (await (await this.#bucket.get(manifestKey(place)))?.text()) ?? null;
  }

  /** Writes a piece of an archive. Pieces are numbered from 0. */
  async putPiece(place: VersionPlace, index: number, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(pieceKey(place, index), bytes);
  }

  /** Reads a piece of an archive. Throws if the piece is missing. */
  async piece(place: VersionPlace, index: number): Promise<Uint8Array> {
    const object = await this.#bucket.get(pieceKey(place, index));
    if (!object) throw new Error("A part of an upload is missing.");
    return new Uint8Array(await object.arrayBuffer());
  }

  /** Erases the first `count` pieces of an archive. */
  async erasePieces(place: VersionPlace, count: number): Promise<void> {
    const keys = Array.from({ length: count }, (_, index) => pieceKey(place, index));
    if (keys.length > 0) await this.#bucket.delete(keys);
  }

  /** Erases some contents of a version, packs with their indexes. Idempotent. */
  async eraseContents(place: VersionPlace, { blobs, packs }: Contents): Promise<void> {
    const keys = [
      ...[...blobs].map((hash) => blobsPrefix(place) + hash),
      ...[...packs].flatMap((hash) => [INDEX, ""].map((end) => packsPrefix(place) + hash + end)),
    ];
    for (let at = 0; at < keys.length; at += MAX_PER_REQUEST)
      await this.#bucket.delete(keys.slice(at, at + MAX_PER_REQUEST));
  }

  /**
   * Erases a version except for some contents. Returns the size of the remaining contents in bytes.
   * Idempotent: repeat the call after an interruption.
   */
  async eraseAllBut(place: VersionPlace, { blobs, packs }: Contents): Promise<number> {
    const prefix = versionPrefix(place);
    const kept = new Set([
      ...[...blobs].map((hash) => blobsPrefix(place) + hash),
      ...[...packs].map((hash) => packsPrefix(place) + hash),
    ]);
    let keptBytes = 0;
    for await (const objects of this.#objects(prefix)) {
      for (const { key, size } of objects) keptBytes += kept.has(key) ? size : 0;
      const keys = objects.map(({ key }) => key).filter((key) => !kept.has(key));
      if (keys.length > 0) await this.#bucket.delete(keys);
    }
    return keptBytes;
  }

  /** Writes a text if the object does not exist. Returns the text that is stored then. */
  async #putOnce(key: string, text: string): Promise<string> {
    if ((await this.#bucket.put(key, text, IF_NEW)) !== null) return text;
    return (await (await this.#bucket.get(key))?.text()) ?? text;
  }

  /** The keys below a prefix, without the prefix, page by page. */
  async *#names(prefix: string): AsyncGenerator<string[]> {
    for await (const objects of this.#objects(prefix))
      yield objects.map(({ key }) => key.slice(prefix.length));
  }

  async *#objects(prefix: string): AsyncGenerator<{ key: string; size: number }[]> {
    let cursor: string | undefined;
    do {
      const page = await this.#bucket.list({
        prefix,
        limit: MAX_PER_REQUEST,
        ...(cursor ? { cursor } : {}),
      });
      yield page.objects;
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  /** Erases a version. Idempotent: repeat the call after an interruption. */
  async erase(place: VersionPlace): Promise<void> {
    const prefix = versionPrefix(place);
    for (;;) {
      const { objects, truncated } = await this.#bucket.list({ prefix, limit: MAX_PER_REQUEST });
      if (objects.length > 0) await this.#bucket.delete(objects.map(({ key }) => key));
      if (!truncated) return;
    }
  }
}
