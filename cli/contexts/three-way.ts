import { ancestorsOf } from "../../src/workspace/paths";

/** A file on one side: its contents' hash and whether it is executable; `null` if it is absent. */
export type Side = { hash: string; executable: boolean } | null;
/** The entry at a path on this machine. */
export type LocalEntry = Side | PathObstacle;
/**
 * Why the path cannot have a file: the entry there is no plain file, or a parent of the path is a
 * file. `blocked` is the reason as part of a sentence. `by` lists the entries that block the path;
 * omitted if no plan may delete them.
 */
type PathObstacle = { blocked: string; by?: BlockingEntries };
/**
 * The entries that block a path: a file at a parent path, or the folder at the path with its
 * contents. Inner folders come before outer folders.
 */
export type BlockingEntries = { files: readonly string[]; folders: readonly string[] };

/**
 * A path with its base version and its new version (`theirs`). `was` is the local name, if it
 * differs from `path` only in case.
 */
export type Change = { path: string; base: Side; theirs: Side; was?: string };
/** A change together with the local entry at its path (`here`): the input of a three-way merge. */
export type Triple = Change & { here: LocalEntry };

/**
 * One step of a plan. `from` is the local version that the step replaces, `to` the new version.
 * `waits` means that other steps must first delete the entries that block the path.
 */
export type Step =
  | {
      action: "write";
      path: string;
      from: Side;
      to: { hash: string; executable: boolean };
      waits?: true;
    }
  | { action: "rename"; path: string; was: string }
  | { action: "delete"; path: string; from: Side }
  | { action: "conflict"; path: string; why: string };

/**
 * Plans a three-way merge that loses no local change. A file is written or deleted only if the
 * local version equals the base version. A file that already has its new version needs no step. A
 * file may become a folder, and a folder a file: blocking entries are no conflict if the same plan
 * deletes all of them.
 */
export function planSteps(triples: readonly Triple[]): Step[] {
  const deletions = deletionsOf(triples);
  return triples.flatMap((triple) => stepsOf(triple, deletions));
}

/**
 * The files that a plan deletes, and the folders that contain deleted files. Such a folder may be
 * removed once it is empty.
 */
type PlannedDeletions = { files: ReadonlySet<string>; folders: ReadonlySet<string> };
const NO_DELETIONS: PlannedDeletions = { files: new Set(), folders: new Set() };

function deletionsOf(triples: readonly Triple[]): PlannedDeletions {
  const deleted = triples.filter(({ base, theirs }) => base !== null && theirs === null);
  const files = deleted
    .flatMap((triple) => stepsOf(triple, NO_DELETIONS))
    .filter(({ action }) => action === "delete");
  return {
    files: new Set(files.map(({ path }) => path)),
    folders: new Set(deleted.flatMap(({ path }) => ancestorsOf(path))),
  };
}

const isUnblocked = ({ files, folders }: BlockingEntries, deletions: PlannedDeletions): boolean =>
  files.every((file) => deletions.files.has(file)) &&
  folders.every((folder) => deletions.folders.has(folder));

/** Whether the new version differs from the base version. Local files are not compared. */
export const isChange = ({ base, theirs, was }: Change): boolean =>
  was !== undefined || !isSame(base, theirs);

function stepsOf(triple: Triple, deletions: PlannedDeletions): Step[] {
  if (!isChange(triple)) return [];
  const { path, here } = triple;
  if (here === null || !("blocked" in here)) return unblockedSteps(triple, here);
  // A blocked path has no file of this name, so there is nothing left to delete.
  if (here.by && triple.theirs === null) return unblockedSteps(triple, null);
  if (!here.by || !isUnblocked(here.by, deletions))
    return [{ action: "conflict", path, why: here.blocked }];
  return unblockedSteps(triple, null).map((step) =>
    step.action === "write" ? { ...step, waits: true } : step,
  );
}

function unblockedSteps({ path, base, theirs, was }: Change, here: Side): Step[] {
  const renamed: Step[] = was === undefined ? [] : [{ action: "rename", path, was }];
  if (isSame(base, theirs) || isApplied(base, theirs, here)) return renamed;
  if (!isSameHash(base, here))
    return [{ action: "conflict", path, why: conflictReason(base, theirs, here) }];
  if (theirs === null) return [...renamed, { action: "delete", path, from: here }];
  return [
    ...renamed,
    {
      action: "write",
      path,
      from: here,
      to: { ...theirs, executable: executableAfter(base, theirs, here) },
    },
  ];
}

/** The executable bit after the write: the local value, unless the change sets the bit. */
const executableAfter = (base: Side, theirs: Exclude<Side, null>, here: Side): boolean =>
  here !== null && base?.executable === theirs.executable ? here.executable : theirs.executable;

/**
 * Whether the local file already has the new version. Equal contents suffice, unless the change
 * sets only the executable bit.
 */
const isApplied = (base: Side, theirs: Side, here: Side): boolean =>
  isSameHash(theirs, here) && (!isSameHash(base, theirs) || isSame(theirs, here));

const isSameHash = (one: Side, other: Side): boolean => one?.hash === other?.hash;
const isSame = (one: Side, other: Side): boolean =>
  isSameHash(one, other) && one?.executable === other?.executable;

function conflictReason(base: Side, theirs: Side, here: Side): string {
  if (base === null) return "made on both sides, with different contents";
  if (here === null) return "deleted here, changed there";
  return theirs === null ? "changed here, deleted there" : "changed on both sides";
}
