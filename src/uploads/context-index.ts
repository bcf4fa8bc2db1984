/** A version of a context in the index. */
export type VersionRow = {
  id: string;
  name: string;
  treeHash: string;
  files: number;
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
  /** The version that must still be the newest; `null` for none; `undefined` to skip the check. */
  base: string | null | undefined;
};

/** A version that is abandoned, retired or being erased. */
export type VersionKey = { tenant: string; name: string; id: string };

/**
 * An upload, and the version that was newest when it started: its contents need not be sent again.
 * `null` if there was none.
 */
export type OpenUpload = { id: string; builtOn: string | null };

/** The tenant's storage is full. */
export type StorageFull = { ok: false; storedBytes: number; limitBytes: number };

/**
 * The versions of contexts. An `uploading` version becomes `committed` or `erasing` exactly once;
 * later calls change nothing. Files of a version are stored separately, and only versions built on
 * it, directly or not, refer to them. The base of an open upload is not retired.
 */
export type ContextIndex = {
  /** The open upload of this tree: a new one with `id`, or the existing one. */
  begin(upload: {
    tenant: string;
    name: string;
    id: string;
    treeHash: string | null;
    createdAt: number;
  }): Promise<OpenUpload>;
  /**
   * Charges an open upload to its tenant with a total of bytes, before they are stored. Never
   * refused for a total already charged. Concurrent uploads cannot both get the last bytes.
   */
  charge(upload: VersionKey, bytes: number): Promise<{ ok: true } | StorageFull>;
  /** The tenant's usage if its storage is full; `null` if there is room. */
  full(tenant: string): Promise<StorageFull | null>;
  /**
   * Makes the upload the newest version. False if the upload no longer exists, or `base` is not the
   * newest.
   */
  commit(commit: Commit): Promise<boolean>;
  /** Whether the upload is open. */
  isOpen(tenant: string, name: string, id: string): Promise<boolean>;
  newest(tenant: string, name: string): Promise<VersionRow | null>;
  /** The newest versions of these contexts, unsorted. */
  newestOf(tenant: string, names: readonly string[]): Promise<VersionRow[]>;
  /** A committed version; `null` for any other. */
  version(tenant: string, name: string, id: string): Promise<VersionRow | null>;
  /** The newest version of each context by name, after `after`. */
  page(tenant: string, after: string | null, limit: number): Promise<VersionRow[]>;
  /** Marks an upload as abandoned. Returns whether it was open. */
  abandon(tenant: string, name: string, id: string): Promise<boolean>;
  /**
   * Marks a context with its uploads for erasure. Returns all ids, including those marked before.
   */
  markErasing(tenant: string, name: string): Promise<string[]>;
  /** Marks uploads started before `before` as abandoned. Returns some of all marked ones. */
  unfinished(before: number, limit: number): Promise<VersionKey[]>;
  /** Removes a version whose files are erased. */
  forget(version: VersionKey): Promise<void>;
};

/** A turn of a session that pins versions. */
export type PinPlace = { tenant: string; session: string; turn: number };

/**
 * The versions that turns use. Only the newest version can be pinned, so a replaced version without
 * pins never gets one again. Pins of a session are deleted with its row.
 */
export type ContextPins = {
  /**
   * Pins the newest version of each name that the tenant has. `start` identifies the attempt to
   * start the turn.
   */
  take(
    place: PinPlace,
    start: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, { id: string; files: number }>>;
  /** Releases the pins of an attempt that failed. */
  releaseStart(place: PinPlace, start: string): Promise<void>;
  /** The turn has ended: releases all its pins except these. Idempotent. */
  release(place: PinPlace, kept: readonly { context: string; version: string }[]): Promise<void>;
};

/** A version without readers since `retiredAt` (Unix ms). */
export type RetiredVersion = VersionKey & { retiredAt: number };

/** A version in the history of a context. `isReadable`: neither retired nor erased. */
export type PastVersion = { id: string; builtOn: string | null; isReadable: boolean };

/** Operations of pruning. */
export type PruneIndex = {
  /**
   * Retires at most `limit` versions: those replaced by an upload that started before `before`,
   * without pins or open uploads. Remains of other versions of these contexts become due again.
   */
  retire(times: { before: number; now: number }, limit: number): Promise<void>;
  /** Some versions retired before `before`, the oldest first. */
  retired(before: number, limit: number): Promise<RetiredVersion[]>;
  /** All versions of a context that exist or existed. */
  history(tenant: string, name: string): Promise<PastVersion[]>;
  /** Records that the remaining bytes of a version are needed. No effect if it became due again. */
  leaveRest(version: RetiredVersion, bytes: number): Promise<void>;
  /** Postpones a version after the others. */
  putOff(version: RetiredVersion, now: number): Promise<void>;
  /** Removes a version whose files are erased. Versions built on it are then built on its base. */
  forget(version: VersionKey): Promise<void>;
};
