/** A version of a context in the index. */
export type VersionRow = {
  id: string;
  /** Name of the context. */
  name: string;
  /** Equal for versions with equal files. */
  treeHash: string;
  /** Number of files. */
  files: number;
  /** Total size of the files. */
  bytes: number;
  /** Unix ms. */
  createdAt: number;
};

/** The version that an upload commits. */
export type Commit = {
  tenant: string;
  name: string;
  id: string;
  treeHash: string;
  files: number;
  bytes: number;
  /**
   * Id of the version that must still be the newest. `null`: the context must have no version.
   * `undefined`: no check.
   */
  base: string | null | undefined;
  /** The record of the version; `null` if it has none. */
  record: CommittedRecord | null;
};

/**
 * The record of a version that is committed, as JSON. `inherited`: the record of the base that it
 * was computed from; the version is not committed if the base has another record meanwhile.
 */
export type CommittedRecord = { text: string; inherited: string | null };

/** Identifies an upload or a version. */
export type VersionKey = { tenant: string; name: string; id: string };

/**
 * An open upload. `builtOn`: id of its base, the version that was the newest when the upload
 * started; `null` if there was none. Contents of the base need not be sent again.
 */
export type OpenUpload = { id: string; builtOn: string | null };

/** The refusal if the tenant's storage is full. */
export type StorageFull = { ok: false; storedBytes: number; limitBytes: number };

/**
 * The index of all versions of contexts. An `uploading` version becomes `committed` or `erasing`
 * exactly once; later calls do not change its state.
 *
 * The files of each version are stored separately. Only versions that are built on this version,
 * directly or through other versions, refer to its files. The base of an open upload is not
 * retired.
 */
export type ContextIndex = {
  /** Returns the open upload of this tree. If there is none, starts an upload with `id`. */
  begin(upload: {
    tenant: string;
    name: string;
    id: string;
    /** `null` if the tree is not known yet; then a new upload is started. */
    treeHash: string | null;
    createdAt: number;
  }): Promise<OpenUpload>;
  /**
   * Charges the bytes of an open upload to its tenant. Call it before the bytes are stored. `bytes`
   * is the total of the upload. A total that is already charged is never refused. Two concurrent
   * uploads cannot both use the last free bytes.
   */
  charge(upload: VersionKey, bytes: number): Promise<{ ok: true } | StorageFull>;
  /** The tenant's usage if its storage is full; otherwise `null`. */
  full(tenant: string): Promise<StorageFull | null>;
  /**
   * Makes the upload the newest version, and stores its record. Returns `false` if the upload no
   * longer exists, if `base` is not the newest version, or if `base` has another record meanwhile.
   */
  commit(commit: Commit): Promise<boolean>;
  /** Whether the upload is open. */
  isOpen(tenant: string, name: string, id: string): Promise<boolean>;
  /** The newest version of a context; `null` if it has none. */
  newest(tenant: string, name: string): Promise<VersionRow | null>;
  /** The newest versions of these contexts, in any order. */
  newestOf(tenant: string, names: readonly string[]): Promise<VersionRow[]>;
  /** The version with this id; `null` if it is not committed. */
  version(tenant: string, name: string, id: string): Promise<VersionRow | null>;
  /** A page of contexts, sorted by name, each with its newest version. Starts after `after`. */
  page(tenant: string, after: string | null, limit: number): Promise<VersionRow[]>;
  /** Marks an upload as abandoned. Returns whether it was open. */
  abandon(tenant: string, name: string, id: string): Promise<boolean>;
  /**
   * Marks all versions and uploads of a context for erasure. Returns their ids, including the ids
   * that were marked before.
   */
  markErasing(tenant: string, name: string): Promise<string[]>;
  /**
   * Marks uploads that started before `before` as abandoned. Returns at most `limit` of all
   * versions that are marked for erasure.
   */
  unfinished(before: number, limit: number): Promise<VersionKey[]>;
  /** Removes the row of a version. Call it after its files have been erased. */
  forget(version: VersionKey): Promise<void>;
};

/** The records of versions, as JSON. See `records.ts`. */
export type ContextRecords = {
  /** The record of a version; `null` if it has none. */
  read(version: VersionKey): Promise<string | null>;
  /**
   * Replaces the record of the newest version. Returns `false` if its record is not `before`, or if
   * it is not the newest version.
   */
  replace(version: VersionKey, record: { before: string | null; after: string }): Promise<boolean>;
  /** The entries of a session in the records of these versions, as JSON, by name of the context. */
  entriesOf(
    tenant: string,
    session: string,
    versions: readonly { name: string; version: string }[],
  ): Promise<ReadonlyMap<string, string>>;
};

/** A turn of a session that pins versions. */
export type PinPlace = { tenant: string; session: string; turn: number };

/**
 * Pins of versions: a turn pins the versions that it uses, so that they are not retired. Only the
 * newest version can be pinned, and versions that another turn of the session has pinned. So a
 * replaced version without pins never gets a new pin. When the index row of a session is removed,
 * its pins are deleted too.
 */
export type ContextPins = {
  /**
   * Pins the newest version of each of these contexts. Returns the pinned versions by name, without
   * contexts that do not exist. `start` identifies the attempt to start the turn.
   */
  take(
    place: PinPlace,
    start: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, { id: string; files: number }>>;
  /**
   * Pins older versions for the turn of `start`: the contents of its contexts are partly stored
   * there. Has no effect on a version that does not exist any more.
   */
  copy(
    place: PinPlace,
    start: string,
    versions: readonly { context: string; version: string }[],
  ): Promise<void>;
  /** Releases the pins of a failed attempt to start a turn. */
  releaseStart(place: PinPlace, start: string): Promise<void>;
  /** Releases the pins of a turn that has ended, except `kept`. Safe to repeat. */
  release(place: PinPlace, kept: readonly { context: string; version: string }[]): Promise<void>;
};

/** A retired version: since `retiredAt` (Unix ms), no new reader can open it. */
export type RetiredVersion = VersionKey & { retiredAt: number };

/** A version in the history of a context. `isReadable`: neither retired nor erased. */
export type PastVersion = { id: string; builtOn: string | null; isReadable: boolean };

/** The index operations that pruning needs. */
export type PruneIndex = {
  /**
   * Retires at most `limit` versions that have no pins, are not the base of an open upload, and
   * were replaced by an upload that started before `before`. For the other retired versions of
   * these contexts, `retired` returns the remaining contents again.
   */
  retire(times: { before: number; now: number }, limit: number): Promise<void>;
  /** At most `limit` versions that were retired before `before`, the oldest first. */
  retired(before: number, limit: number): Promise<RetiredVersion[]>;
  /** All versions of a context that exist or existed. */
  history(tenant: string, name: string): Promise<PastVersion[]>;
  /**
   * Records that other versions need the remaining `bytes` of this version, so that `retired` does
   * not return it. Has no effect if the version was retired again meanwhile.
   */
  leaveRest(version: RetiredVersion, bytes: number): Promise<void>;
  /** Moves a retired version behind all others. */
  putOff(version: RetiredVersion, now: number): Promise<void>;
  /**
   * Removes the row of a version. Call it after its files have been erased. The base of this
   * version becomes the base of the versions that were built on it.
   */
  forget(version: VersionKey): Promise<void>;
};
