import type { Bucket } from "./bucket";

/** What R2 lists, and deletes, at once. */
export const MOST_AT_ONCE = 1_000;

/** Whose files. Tenants and sessions have ids without slashes. */
export type SessionPlace = { tenant: string; session: string };

/** The part of R2 that a session's files need. */
export type FileBucket = {
  /** `null` if `onlyIf` kept it from being written. */
  put(key: string, value: Uint8Array | string, options: PutOptions): Promise<object | null>;
  get(key: string, options?: { range: Range }): Promise<StoredObject | null>;
  head(key: string): Promise<object | null>;
  delete(keys: string[]): Promise<void>;
};
type PutOptions = { onlyIf: { etagDoesNotMatch: string }; sha256?: string };
type Range = { offset: number; length: number };
type StoredObject = { arrayBuffer(): Promise<ArrayBuffer> };

/** Everything of a session lies below this. */
export const sessionPrefix = (tenant: string, session: string): string =>
  `tenants/${tenant}/sessions/${session}/`;

/**
 * Only where there is nothing yet. R2 answers null where there is something: the same, since names
 * say what lies behind them.
 */
const IF_NEW = { onlyIf: { etagDoesNotMatch: "*" } } as const;

/** The same for whoever only uses it. */
export type SessionObjects = Pick<SessionFiles, keyof SessionFiles>;

/**
 * A session's files in R2: contents by their SHA-256, alone or several in a pack, the manifests of
 * snapshots, and results of tools. Each object is written once, so that writing it again, after a
 * kill or a failure, changes nothing.
 */
export class SessionFiles {
  readonly #bucket: FileBucket;
  readonly #prefix: string;

  constructor(bucket: FileBucket, { tenant, session }: SessionPlace) {
    this.#bucket = bucket;
    this.#prefix = sessionPrefix(tenant, session);
  }

  /** `bytes` must have that hash. */
  async putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(this.#blob(hash), bytes, { ...IF_NEW, sha256: hash });
  }

  /** Several contents, one after the other; `hash`: of all of them together. */
  async putPack(hash: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(this.#pack(hash), bytes, { ...IF_NEW, sha256: hash });
  }

  /** `name`: turn, attempt and label, joined by `/`. */
  async putSnapshot(name: string, manifest: string): Promise<void> {
    await this.#bucket.put(`${this.#prefix}snapshots/${name}.json`, manifest, IF_NEW);
  }

  async putResult(name: string, bytes: Uint8Array): Promise<void> {
    await this.#bucket.put(`${this.#prefix}tool-results/${name}`, bytes, IF_NEW);
  }

  hasBlob = async (hash: string): Promise<boolean> =>
    (await this.#bucket.head(this.#blob(hash))) !== null;

  /** null if it is not there. */
  blob = (hash: string): Promise<Uint8Array<ArrayBuffer> | null> => this.#read(this.#blob(hash));

  /** null if it is not there. */
  pack = (hash: string): Promise<Uint8Array<ArrayBuffer> | null> => this.#read(this.#pack(hash));

  /** So many bytes of a pack from an offset on; null if it is not there. */
  packed = (
    hash: string,
    offset: number,
    length: number,
  ): Promise<Uint8Array<ArrayBuffer> | null> => this.#read(this.#pack(hash), { offset, length });

  /**
   * Erases contents that lie alone, at most `MOST_AT_ONCE`. Those that are not there are as good as
   * erased.
   */
  async eraseBlobs(hashes: readonly string[]): Promise<void> {
    if (hashes.length > 0) await this.#bucket.delete(hashes.map((hash) => this.#blob(hash)));
  }

  #blob = (hash: string): string => `${this.#prefix}blobs/${hash}`;
  #pack = (hash: string): string => `${this.#prefix}packs/${hash}`;

  async #read(key: string, range?: Range): Promise<Uint8Array<ArrayBuffer> | null> {
    const found = await this.#bucket.get(key, range && { range });
    return found && new Uint8Array(await found.arrayBuffer());
  }
}

/** Something that came with a question, by its SHA-256: written before the turn that names it. */
export const attachmentKey = (tenant: string, session: string, sha256: string): string =>
  `${sessionPrefix(tenant, session)}attachments/${sha256}`;

/** Erases every file of a session. Broken off in the middle, it is finished by doing it again. */
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
