/** A file on one side: its contents by hash, and whether it may be run. */
export type Side = { hash: string; executable: boolean } | null;
/** What lies on this machine: `blocked`: something that is no plain file, or has one above it. */
export type Here = Side | { blocked: string };

/** A path with what it was and what it is to become. `was`: the name its file has here, where that differs in case alone. */
export type Change = { path: string; base: Side; theirs: Side; was?: string };
/** And what it is here now. */
export type Triple = Change & { here: Here };

export type Step =
  | { action: "write"; path: string; from: Side; to: { hash: string; executable: boolean } }
  | { action: "rename"; path: string; was: string }
  | { action: "delete"; path: string; from: Side }
  | { action: "conflict"; path: string; why: string };

/**
 * What is to be done so that changes made elsewhere arrive here, and nothing that was changed here is lost: a file is written or
 * deleted only where it still is what the others started from. What is as it should be needs no step.
 */
export function planSteps(triples: readonly Triple[]): Step[] {
  return triples.flatMap(stepsOf);
}

/** Whether there is anything to be done, whatever lies here. */
export const isChange = ({ base, theirs, was }: Change): boolean => was !== undefined || !isSame(base, theirs);

function stepsOf(triple: Triple): Step[] {
  const { path, base, theirs, here, was } = triple;
  if (!isChange(triple)) return [];
  if (here !== null && "blocked" in here) return [{ action: "conflict", path, why: here.blocked }];
  const renamed: Step[] = was === undefined ? [] : [{ action: "rename", path, was }];
  if (isSame(base, theirs) || hasArrived(base, theirs, here)) return renamed;
  if (!isSameHash(base, here)) return [{ action: "conflict", path, why: whyOf(base, theirs, here) }];
  if (theirs === null) return [...renamed, { action: "delete", path, from: here }];
  return [...renamed, { action: "write", path, from: here, to: { ...theirs, executable: mayRun(base, theirs, here) } }];
}

/** What nobody changed there is as it is here. */
const mayRun = (base: Side, theirs: Exclude<Side, null>, here: Side): boolean =>
  here !== null && base?.executable === theirs.executable ? here.executable : theirs.executable;

/** The same contents are enough, but where nothing else was changed than whether it may be run. */
const hasArrived = (base: Side, theirs: Side, here: Side): boolean =>
  isSameHash(theirs, here) && (!isSameHash(base, theirs) || isSame(theirs, here));

const isSameHash = (one: Side, other: Side): boolean => one?.hash === other?.hash;
const isSame = (one: Side, other: Side): boolean => isSameHash(one, other) && one?.executable === other?.executable;

function whyOf(base: Side, theirs: Side, here: Side): string {
  if (base === null) return "made on both sides, with different contents";
  if (here === null) return "deleted here, changed there";
  return theirs === null ? "changed here, deleted there" : "changed on both sides";
}
