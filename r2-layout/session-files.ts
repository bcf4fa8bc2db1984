import type { Bucket } from "./bucket";

/** Objects that R2 lists or deletes per request. */
export const MOST_AT_ONCE = 1_000;

/** Identifies the session that owns the files. Ids of tenants and sessions contain no slashes. */
export type SessionPlace = { tenant: string; session: string };

/** The methods of a bucket that a session's files need. */
export type FileBucket = {
  /** Returns `null` if the condition `onlyIf` prevented the write. */
  put(key: string, value: Uint8Array | string, options: PutOptions): Promise<object | null>;
  get(key: string, options?: { range: Range }): Promise<StoredObject | null>;
  head(key: string): Promise<object | null>;
  delete(keys: string[]): Promise<void>;
};
type PutOptions = { onlyIf: { etagDoesNotMatch: string }; sha256?: string };
type Range = { offset: number; length: number };
type StoredObject = { arrayBuffer(): Promise<ArrayBuffer> };

/** Prefix of all objects of a session. */
export const sessionPrefix = (tenant: string, session: string): string =>
  `tenants/${tenant}/sessions/${session}/`;

/**
 * Writes only if the object does not exist. If the object exists, R2 returns `null`. Its contents
 * are then the same, because each key belongs to one content.
 */
const IF_NEW = { onlyIf: { etagDoesNotMatch: "*" } } as const;

/** The public methods, as a type that fakes can implement. */
export type SessionObjects = Pick<SessionFiles, keyof SessionFiles>;

/**
 * Reads and writes a session's files in R2: blobs by SHA-256, packs, manifests of snapshots, and
 * tool results. An existing object is never replaced. So a write can be repeated after a crash.
 */
export class SessionFiles {
  readonly #bucket: FileBucket;
  readonly #prefix: string;

  constructor(bucket: FileBucket, { tenant, session }: SessionPlace) {
    this.#bucket = bucket;
    this.#prefix = sessionPrefix(tenant, session);
  }

  /** Writes a blob. `hash` must be the hash of `bytes`. */
  async putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(this.#blob(hash), bytes, { ...IF_NEW, sha256: hash });
  }

  /** Writes a pack: several contents in one object. `hash` is the hash of the whole pack. */
  async putPack(hash: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(this.#pack(hash), bytes, { ...IF_NEW, sha256: hash });
  }

  /** Writes the manifest of a snapshot. `name` is turn, attempt and label, joined by `/`. */
  async putSnapshot(name: string, manifest: string): Promise<void> {
    await this.#bucket.put(`${this.#prefix}snapshots/${name}.json`, manifest, IF_NEW);
  }

  /** Writes a tool result. `name` is the path below `tool-results/`. */
  async putResult(name: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(`${this.#prefix}tool-results/${name}`, bytes, IF_NEW);
  }

  /** Whether a blob exists as a separate object. */
  hasBlob = async (hash: string): Promise<boolean> =>
    (await this.#bucket.head(this.#blob(hash))) !== null;

  /** Reads a blob; `null` if it is missing. */
  blob = (hash: string): Promise<Uint8Array<ArrayBuffer> | null> => this.#read(this.#blob(hash));

  /** Reads a whole pack; `null` if it is missing. */
  pack = (hash: string): Promise<Uint8Array<ArrayBuffer> | null> => this.#read(this.#pack(hash));

  /** Reads a range of a pack; `null` if the pack is missing. */
  packed = (
    hash: string,
    offset: number,
    length: number,
  ): Promise<Uint8Array<ArrayBuffer> | null> => this.#read(this.#pack(hash), { offset, length });

  /** Erases blobs, at most `MOST_AT_ONCE`. Ignores missing blobs. */
  async eraseBlobs(hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0) await this.#bucket.delete(hashes.map((hash) => this.#blob(hash)));
  }

  #blob = (hash: string): string => `${this.#prefix}blobs/${hash}`;
  #pack = (hash: string): string => `${this.#prefix}packs/${hash}`;

  async #read(key: string, range?: Range): Promise<Uint8Array<ArrayBuffer> | null> {
    const object = await this.#bucket.get(key, range && { range });
    return object && new Uint8Array(await object.arrayBuffer());
  }
}

/** The key of an attachment. An attachment is written before the turn that uses it. */
export const attachmentKey = (tenant: string, session: string, sha256: string): string =>
  `${sessionPrefix(tenant, session)}attachments/${sha256}`;

/** The key of an attachment of a queued request, which is copied when its turn starts. */
export const queuedAttachmentKey = (
  { tenant, session }: SessionPlace,
  queueId: string,
  sha256: string,
): string => `${sessionPrefix(tenant, session)}queue/${queueId}/${sha256}`;

/** Erases all files of a session. Idempotent: repeat the call after an interruption. */
export async function eraseSessionFiles(
  bucket: Bucket,
  tenant: string,
  session: string,
  atOnce = MOST_AT_ONCE,
): Promise<void> {
  const prefix = sessionPrefix(tenant, session);
  for (;;) {
    const { objects, truncated } = await bucket.list({ prefix, limit: atOnce });
    if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
}
