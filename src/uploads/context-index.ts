/** A version of a context, as the index has it. */
export type VersionRow = {
  id: string;
  name: string;
  treeHash: string;
  files: number;
  bytes: number;
  /** Unix ms. */
  createdAt: number;
};

/** What an upload has to say of the version that it makes. */
export type Commit = {
  tenant: string;
  name: string;
  id: string;
  treeHash: string;
  files: number;
  bytes: number;
  /** The version that must still be the newest, null for none; undefined: whichever is. */
  base: string | null | undefined;
};

/** Somebody's version that is given up, retired or being erased. */
export type Unfinished = { tenant: string; name: string; id: string };

/** An upload, and the version that was the newest as it began: what that one has need not be sent again. null: there was none. */
export type Begun = { id: string; builtOn: string | null };

/** The tenant stores as much as it may. */
export type StorageFull = { ok: false; storedBytes: number; limitBytes: number };

/**
 * Which versions there are. What is `uploading` becomes `committed` or `erasing`, by one of the methods below and once: whoever comes
 * second changes nothing. Files of a version lie apart from those of all others, and are referred to only by versions that were built
 * on it, directly or not. What an open upload is built on is not retired.
 */
export type ContextIndex = {
  /** The open upload of this tree: `id`, or the one that was there already. */
  begin(upload: {
    tenant: string;
    name: string;
    id: string;
    treeHash: string | null;
    createdAt: number;
  }): Promise<Begun>;
  /**
   * Charges an open upload to its tenant with so many bytes in all, before they are stored; never refused for no more than it has.
   * Two uploads at the same time do not both get what is left for one.
   */
  charge(upload: Unfinished, bytes: number): Promise<{ ok: true } | StorageFull>;
  /** What the tenant stores beyond its limit, or null: there is room. */
  full(tenant: string): Promise<StorageFull | null>;
  /** Whether the upload has become the newest version. False if it is none any more, or `base` is not the newest. */
  commit(commit: Commit): Promise<boolean>;
  /** The upload, while it is open. */
  isOpen(tenant: string, name: string, id: string): Promise<boolean>;
  newest(tenant: string, name: string): Promise<VersionRow | null>;
  /** The newest version of each of these, in no order. */
  newestOf(tenant: string, names: readonly string[]): Promise<VersionRow[]>;
  /** A committed version; null for any other. */
  version(tenant: string, name: string, id: string): Promise<VersionRow | null>;
  /** The newest version of each context by name, from behind `after`. */
  page(tenant: string, after: string | null, limit: number): Promise<VersionRow[]>;
  /** Marks one upload as given up. Whether it was open. */
  giveUp(tenant: string, name: string, id: string): Promise<boolean>;
  /** Marks all of a context, its uploads too; gives the ids, also of those that were marked before. */
  markErasing(tenant: string, name: string): Promise<string[]>;
  /** Marks uploads begun before `before` as given up, and gives some of all that are marked. */
  unfinished(before: number, limit: number): Promise<Unfinished[]>;
  /** Forgets a version whose files are gone. */
  forget(version: Unfinished): Promise<void>;
};

/** A turn of a session, for which versions are pinned. */
export type PinPlace = { tenant: string; session: string; turn: number };

/**
 * Which versions turns hold. Only what is the newest can be pinned, so a version that was replaced and that nobody holds is held by
 * nobody any more. Pins of a session go with its row.
 */
export type ContextPins = {
  /** Pins the newest version of each of these names, as far as the tenant has such contexts. `start`: which try to start the turn. */
  take(
    place: PinPlace,
    start: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, { id: string; files: number }>>;
  /** Lets go what a try has taken that came to nothing. */
  giveBack(place: PinPlace, start: string): Promise<void>;
  /** The turn is over: lets go of all that it has but these. Twice is the same as once. */
  release(place: PinPlace, kept: readonly { context: string; version: string }[]): Promise<void>;
};

/** A version that is read by nobody any more, since `retiredAt` (unix ms). */
export type Retired = Unfinished & { retiredAt: number };

/** A version as far as its descent goes. `stands`: it can be read. */
export type Past = { id: string; builtOn: string | null; stands: boolean };

/** What pruning needs to know and to say of versions. */
export type PruneIndex = {
  /**
   * Retires versions, at most `limit`: those that were replaced by an upload begun before `before` and that neither a turn nor an
   * open upload holds. What is left of others of these contexts is due again.
   */
  retire(times: { before: number; now: number }, limit: number): Promise<void>;
  /** Some of what was retired before `before`, the longest ago first. */
  retired(before: number, limit: number): Promise<Retired[]>;
  /** All of a context that stands or once did. */
  history(tenant: string, name: string): Promise<Past[]>;
  /** What is left of it, so many bytes, is needed. Changes nothing if it has become due again since. */
  leaveRest(version: Retired, bytes: number): Promise<void>;
  /** It is to be looked at again later, after others. */
  putOff(version: Retired, now: number): Promise<void>;
  /** Forgets a version whose files are gone; what was built on it counts as built on what it was built on. */
  forget(version: Unfinished): Promise<void>;
};
