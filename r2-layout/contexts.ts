import type { Bucket } from "./bucket";
import { pacedPut } from "./paced-bucket";

/** Objects that R2 lists or deletes per request. */
const MOST_AT_ONCE = 1_000;

/** A version of a context, or an upload. Version ids are unique per tenant and never reused. */
export type VersionPlace = { tenant: string; version: string };

const versionPrefix = ({ tenant, version }: VersionPlace): string =>
  `tenants/${tenant}/contexts/${version}/`;
const blobsPrefix = (place: VersionPlace): string => `${versionPrefix(place)}blobs/`;
const packsPrefix = (place: VersionPlace): string => `${versionPrefix(place)}packs/`;
const placesKey = (place: VersionPlace): string => `${versionPrefix(place)}packs.json`;
const manifestKey = (place: VersionPlace): string => `${versionPrefix(place)}manifest.json`;
const pieceKey = (place: VersionPlace, nth: number): string =>
  `${versionPrefix(place)}upload/${String(nth).padStart(6, "0")}`;

/**
 * Writes only if the object does not exist. R2 returns `null` if it exists: its contents are then
 * the same, because names depend on contents.
 */
const IF_NEW = { onlyIf: { etagDoesNotMatch: "*" } } as const;

/** Suffix of a pack's index. */
const INDEX = ".json";

/** Contents of a version that remain. */
export type KeptContents = { blobs: ReadonlySet<string>; packs: ReadonlySet<string> };

/** The public methods, as a type that fakes can implement. */
export type ContextBlobs = Pick<ContextFiles, keyof ContextFiles>;

/** Files of uploaded contexts: blobs by hash, packs, manifests, and pieces of archives. */
export class ContextFiles {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** `bytes` must have that hash. Idempotent. */
  async putBlob(place: VersionPlace, hash: string, bytes: Uint8Array): Promise<void> {
    await pacedPut(this.#bucket, blobsPrefix(place) + hash, bytes, IF_NEW);
  }

  /** The hashes of separate blobs. */
  async blobs(place: VersionPlace): Promise<Set<string>> {
    const found = new Set<string>();
    for await (const names of this.#names(blobsPrefix(place)))
      for (const name of names) found.add(name);
    return found;
  }

  /**
   * Several contents, concatenated; `hash` is of the whole. The index is written last, because it
   * marks the pack as complete.
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
    const found: { pack: string; text: string }[] = [];
    for await (const names of this.#names(prefix)) {
      for (const name of names.filter((one) => one.endsWith(INDEX))) {
        const text = await (await this.#bucket.get(prefix + name))?.text();
        if (text !== undefined) found.push({ pack: name.slice(0, -INDEX.length), text });
      }
    }
    return found;
  }

  /** A range of a pack, or all of it; `null` if missing. */
  async pack(
    place: VersionPlace,
    hash: string,
    range?: { offset: number; length: number },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const found = await this.#bucket.get(packsPrefix(place) + hash, range && { range });
    return found && new Uint8Array(await found.arrayBuffer());
  }

  /** The first write wins. */
  async putPlaces(place: VersionPlace, text: string): Promise<void> {
    await this.#bucket.put(placesKey(place), text, IF_NEW);
  }

  /** Positions of packed contents; `null` if nothing is packed. */
  async places(place: VersionPlace): Promise<string | null> {
    return (await (await this.#bucket.get(placesKey(place)))?.text()) ?? null;
  }

  /** `null` if missing. */
  async blob(place: VersionPlace, hash: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const found = await this.#bucket.get(blobsPrefix(place) + hash);
    return found && new Uint8Array(await found.arrayBuffer());
  }

  /** Contents as a stream; `null` if missing. */
  async blobStream(place: VersionPlace, hash: string): Promise<ReadableStream<Uint8Array> | null> {
    return (await this.#bucket.get(blobsPrefix(place) + hash))?.body ?? null;
  }

  /** The first manifest of a version wins; returns that one. */
  async putManifest(place: VersionPlace, text: string): Promise<string> {
    const key = manifestKey(place);
    if ((await this.#bucket.put(key, text, IF_NEW)) !== null) return text;
    return (await (await this.#bucket.get(key))?.text()) ?? text;
  }

  /** The manifest of a version; `null` if missing. */
  async manifest(place: VersionPlace): Promise<string | null> {
    return (await (await this.#bucket.get(manifestKey(place)))?.text()) ?? null;
  }

  /** A piece of an archive, numbered from 0. */
  async putPiece(place: VersionPlace, nth: number, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(pieceKey(place, nth), bytes);
  }

  /** Throws if the piece was never written. */
  async piece(place: VersionPlace, nth: number): Promise<Uint8Array> {
    const found = await this.#bucket.get(pieceKey(place, nth));
    if (!found) throw new Error("A part of an upload is missing.");
    return new Uint8Array(await found.arrayBuffer());
  }

  /** Erases the first `count` pieces of an archive. */
  async erasePieces(place: VersionPlace, count: number): Promise<void> {
    const keys = Array.from({ length: count }, (_, nth) => pieceKey(place, nth));
    if (keys.length > 0) await this.#bucket.delete(keys);
  }

  /**
   * Erases a version except these contents, and returns their bytes. Idempotent: repeat it after an
   * interruption.
   */
  async eraseAllBut(place: VersionPlace, { blobs, packs }: KeptContents): Promise<number> {
    const prefix = versionPrefix(place);
    const kept = new Set([
      ...[...blobs].map((hash) => blobsPrefix(place) + hash),
      ...[...packs].map((hash) => packsPrefix(place) + hash),
    ]);
    let left = 0;
    for await (const objects of this.#objects(prefix)) {
      for (const { key, size } of objects) left += kept.has(key) ? size : 0;
      const keys = objects.map(({ key }) => key).filter((key) => !kept.has(key));
      if (keys.length > 0) await this.#bucket.delete(keys);
    }
    return left;
  }

  /** Names below a prefix, without it, page by page. */
  async *#names(prefix: string): AsyncGenerator<string[]> {
    for await (const objects of this.#objects(prefix))
      yield objects.map(({ key }) => key.slice(prefix.length));
  }

  async *#objects(prefix: string): AsyncGenerator<{ key: string; size: number }[]> {
    let cursor: string | undefined;
    do {
      const page = await this.#bucket.list({
        prefix,
        limit: MOST_AT_ONCE,
        ...(cursor ? { cursor } : {}),
      });
      yield page.objects;
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  /** Erases a version. Idempotent: repeat it after an interruption. */
  async erase(place: VersionPlace): Promise<void> {
    const prefix = versionPrefix(place);
    for (;;) {
      const { objects, truncated } = await this.#bucket.list({ prefix, limit: MOST_AT_ONCE });
      if (objects.length > 0) await this.#bucket.delete(objects.map(({ key }) => key));
      if (!truncated) return;
    }
  }
}
