import { ancestorsOf } from "../../src/workspace/paths";

/** A file on one side: its contents by hash, and whether it may be run. */
export type Side = { hash: string; executable: boolean } | null;
/** What is on this machine. */
export type Here = Side | PathObstacle;
/**
 * Something that is no plain file, or has one above it. `by`: what of this machine keeps the path
 * free of any file, where it could go.
 */
type PathObstacle = { blocked: string; by?: InTheWay };
/**
 * A file above a path, or all that is in a folder of that path, and the folder. Folders that are in
 * others come first.
 */
export type InTheWay = { files: readonly string[]; folders: readonly string[] };

/**
 * A path with what it was and what it is to become. `was`: the name its file has here, where that
 * differs in case alone.
 */
export type Change = { path: string; base: Side; theirs: Side; was?: string };
/** And what it is here now. */
export type Triple = Change & { here: Here };

/** `waits`: what is in its way goes by other steps, which must be done before. */
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
 * What is to be done so that changes made elsewhere arrive here, and nothing that was changed here
 * is lost: a file is written or deleted only where it still is what the others started from. What
 * is as it should be needs no step. A file may become a folder, or a folder a file: what is in the
 * way of a new file counts for nothing where all of it goes by the same plan.
 */
export function planSteps(triples: readonly Triple[]): Step[] {
  const going = goingOf(triples);
  return triples.flatMap((triple) => stepsOf(triple, going));
}

/**
 * What a plan deletes; and the folders that have, or had, something that is deleted there: they may
 * go once they are empty.
 */
type Going = { files: ReadonlySet<string>; folders: ReadonlySet<string> };
const NOTHING: Going = { files: new Set(), folders: new Set() };

function goingOf(triples: readonly Triple[]): Going {
  const deleted = triples.filter(({ base, theirs }) => base !== null && theirs === null);
  const files = deleted
    .flatMap((triple) => stepsOf(triple, NOTHING))
    .filter(({ action }) => action === "delete");
  return {
    files: new Set(files.map(({ path }) => path)),
    folders: new Set(deleted.flatMap(({ path }) => ancestorsOf(path))),
  };
}

const isGoing = ({ files, folders }: InTheWay, going: Going): boolean =>
  files.every((file) => going.files.has(file)) &&
  folders.every((folder) => going.folders.has(folder));

/** Whether there is a change, before comparing with the files here. */
export const isChange = ({ base, theirs, was }: Change): boolean =>
  was !== undefined || !isSame(base, theirs);

function stepsOf(triple: Triple, going: Going): Step[] {
  if (!isChange(triple)) return [];
  const { path, here } = triple;
  if (here === null || !("blocked" in here)) return stepsFor(triple, here);
  // If something else is there, there is no file to delete, and none in the way of another once
  // that is gone.
  if (here.by && triple.theirs === null) return stepsFor(triple, null);
  if (!here.by || !isGoing(here.by, going))
    return [{ action: "conflict", path, why: here.blocked }];
  return stepsFor(triple, null).map((step) =>
    step.action === "write" ? { ...step, waits: true } : step,
  );
}

function stepsFor({ path, base, theirs, was }: Change, here: Side): Step[] {
  const renamed: Step[] = was === undefined ? [] : [{ action: "rename", path, was }];
  if (isSame(base, theirs) || hasArrived(base, theirs, here)) return renamed;
  if (!isSameHash(base, here))
    return [{ action: "conflict", path, why: whyOf(base, theirs, here) }];
  if (theirs === null) return [...renamed, { action: "delete", path, from: here }];
  return [
    ...renamed,
    {
      action: "write",
      path,
      from: here,
      to: { ...theirs, executable: mayRun(base, theirs, here) },
    },
  ];
}

/** Files that were not changed there stay as they are here. */
const mayRun = (base: Side, theirs: Exclude<Side, null>, here: Side): boolean =>
  here !== null && base?.executable === theirs.executable ? here.executable : theirs.executable;

/** The same contents are enough, but where nothing else was changed than whether it may be run. */
const hasArrived = (base: Side, theirs: Side, here: Side): boolean =>
  isSameHash(theirs, here) && (!isSameHash(base, theirs) || isSame(theirs, here));

const isSameHash = (one: Side, other: Side): boolean => one?.hash === other?.hash;
const isSame = (one: Side, other: Side): boolean =>
  isSameHash(one, other) && one?.executable === other?.executable;

function whyOf(base: Side, theirs: Side, here: Side): string {
  if (base === null) return "made on both sides, with different contents";
  if (here === null) return "deleted here, changed there";
  return theirs === null ? "changed here, deleted there" : "changed on both sides";
}
