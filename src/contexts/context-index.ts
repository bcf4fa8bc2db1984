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

/** Somebody's version that is given up or being erased. */
export type Unfinished = { tenant: string; name: string; id: string };

/**
 * Which versions there are. What is `uploading` becomes `committed` or `erasing`, by one of the methods below and once: whoever comes
 * second changes nothing. Files of a version lie apart from those of all others, and are referred to by later versions of the same
 * context only after its commit; so what is erased is nobody's.
 */
export type ContextIndex = {
  /** The open upload of this tree: `id`, or the one that was there already. */
  begin(upload: { tenant: string; name: string; id: string; treeHash: string | null; createdAt: number }): Promise<string>;
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
