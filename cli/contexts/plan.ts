import { inspect, isOneFile, refusalOf } from "./directory";
import { IgnoreFiles } from "./ignore-files";
import { choosesPackages, Includes, type LeftOut, leftOutAs } from "./left-out";
import { type Change, isChange, planSteps, type Step, type Triple } from "./three-way";

/** `without`: the files that would have a step but for what is left out. */
export type Plan = { steps: Step[]; leftOut: LeftOut[]; without: string[] };

/** The steps that bring these changes into a directory. */
export async function planOf(
  directory: string,
  changes: readonly Change[],
  arrivals: Arrivals,
): Promise<Plan> {
  const plan: Pick<Plan, "leftOut" | "without"> = { leftOut: [], without: [] };
  const coming: Triple[] = [];
  for (const change of mergeTwins(
    changes,
    await oneFileEach(directory, twinsAmong(changes)),
  ).filter(isChange)) {
    const triple = { ...change, here: await inspect(directory, change.path) };
    const isStep = planSteps([triple]).length > 0;
    const left =
      isStep && refusalOf(change.path) === null ? await arrivals.leftOut(change.path) : null;
    if (left === null) coming.push(triple);
    else {
      plan.leftOut.push(left);
      plan.without.push(change.path);
    }
  }
  return { ...plan, steps: planSteps(coming) };
}

async function oneFileEach(directory: string, twins: readonly Twins[]): Promise<Twins[]> {
  const found: Twins[] = [];
  for (const { gone, stays } of twins) {
    const mayBe = refusalOf(gone) === null && refusalOf(stays) === null;
    if (mayBe && (await isOneFile(directory, gone, stays))) found.push({ gone, stays });
  }
  return found;
}

/**
 * Two paths that differ in case alone: `gone` was deleted there, `stays` is there. To some disks
 * they are one file.
 */
export type Twins = { gone: string; stays: string };

/**
 * A name as case-insensitive disks compare it. Upper case first, because several lower-case letters
 * can share one capital.
 */
const folded = (path: string): string => path.toUpperCase().toLowerCase();

/** Deleted files that may be the same file here as another that stays or arrives. */
export function twinsAmong(changes: readonly Change[]): Twins[] {
  const staying = new Map<string, string[]>();
  for (const { path, theirs } of changes) {
    if (theirs === null) continue;
    const key = folded(path);
    staying.set(key, [...(staying.get(key) ?? []), path]);
  }
  const deleted = changes.filter(({ base, theirs }) => base !== null && theirs === null);
  return deleted.flatMap(({ path: gone }) =>
    (staying.get(folded(gone)) ?? []).map((stays) => ({ gone, stays })),
  );
}

/**
 * The changes if each pair of twins is one file here: it is not deleted. A file that existed there
 * only under its old name is compared under its new name, and renamed. A file that existed there
 * under both names stays.
 */
export function mergeTwins(changes: readonly Change[], twins: readonly Twins[]): Change[] {
  const merged = new Map(changes.map((change) => [change.path, change]));
  for (const { gone, stays } of twins) {
    const [old, kept] = [merged.get(gone), merged.get(stays)];
    if (!old || !kept) continue;
    merged.delete(gone);
    if (kept.base === null) merged.set(stays, { ...kept, base: old.base, was: gone });
  }
  return [...merged.values()];
}

/**
 * What of a context, or of what a team changed in it, comes into a directory unasked: the same that
 * would go from there to the service, except settings that say where packages come from. Programs
 * here read those and secrets automatically.
 */
export class Arrivals {
  readonly #ignored: IgnoreFiles;
  readonly #includes: Includes;

  /**
   * `includes`: gitignore-style patterns of files that are taken although they would be left out.
   */
  constructor(directory: string, includes: readonly string[]) {
    this.#ignored = new IgnoreFiles(directory);
    this.#includes = new Includes(includes);
  }

  /**
   * What is left out of a file's path, the whole or a folder in it, and why; null if the file
   * comes. Not for a path with a refusal.
   */
  async leftOut(file: string): Promise<LeftOut | null> {
    const names = file.split("/");
    for (let depth = 1; depth < names.length; depth += 1) {
      const folder = `${names.slice(0, depth).join("/")}/`;
      const reason = leftOutAs(folder, await this.#ignored.for(folder), this.#includes);
      if (reason !== null && !this.#includes.reachInto(folder)) return { path: folder, reason };
    }
    if (choosesPackages(file) && !this.#includes.hasItself(file))
      return { path: file, reason: "says where packages come from" };
    const reason = leftOutAs(file, await this.#ignored.for(file), this.#includes);
    return reason && { path: file, reason };
  }
}
