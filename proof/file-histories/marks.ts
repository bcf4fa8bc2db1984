/**
 * The history of one file, as a graph of marks. Each mark is a state of the file that somebody
 * made, and names the states it was made from. Two copies of a file are compared by their marks,
 * so the model needs no trees, versions or records to know which copy is newer.
 */

/** Contents of a file; `null` if the file is absent. */
export type Contents = string | null;

export type Mark = {
  readonly id: number;
  readonly contents: Contents;
  /** The states that the maker of this state had seen. */
  readonly seen: readonly Mark[];
};

/** The state of every file before anybody wrote it. */
export const UNWRITTEN: Mark = { id: 0, contents: null, seen: [] };

let lastId = 0;

/** A new state, made by someone who had seen these states. */
export function mark(contents: Contents, ...seen: readonly Mark[]): Mark {
  lastId += 1;
  return { id: lastId, contents, seen: seen.length === 0 ? [UNWRITTEN] : seen };
}

/** All states that the maker of a state had seen, and the state itself. */
export function pastOf(latest: Mark): ReadonlySet<Mark> {
  const past = new Set<Mark>([latest]);
  for (const member of past) for (const earlier of member.seen) past.add(earlier);
  return past;
}

/** Whether `later` was made with knowledge of `earlier`, or is the same state. */
export const knows = (later: Mark, earlier: Mark): boolean => pastOf(later).has(earlier);

/** The states without those that another one of them knows. */
const latestOf = (marks: readonly Mark[]): Mark[] =>
  marks.filter((one) => !marks.some((other) => other !== one && knows(other, one)));

/** The latest states that both have seen. More than one if two merges crossed. */
export function commonMarks(one: Mark, other: Mark): Mark[] {
  const othersPast = pastOf(other);
  return latestOf([...pastOf(one)].filter((member) => othersPast.has(member)));
}

/**
 * What is merged: the copy of the user, the copy of the other side, and the state that the user's
 * record names, if any. A record of another branch is later than the common state: then the user
 * has changed only what differs from the record.
 */
export type Copies = { user: Mark; other: Mark; recorded?: Mark | undefined };

/**
 * `merged`: the resulting state. `conflict`: both sides changed the file since their common state.
 * `either`: the sides have several common states, which lead to different results.
 */
export type Merge =
  | { outcome: "merged"; result: Mark }
  | { outcome: "conflict" }
  | { outcome: "either"; results: readonly Mark[] };

/** Merges two copies of a file by their contents and their common state. */
export function mergeCopies({ user, other, recorded }: Copies): Merge {
  if (user.contents === other.contents)
    return { outcome: "merged", result: joined(user.contents, user, other) };
  const bases = latestOf([
    ...commonMarks(user, other),
    ...(recorded && knows(user, recorded) ? [recorded] : []),
  ]);
  const contents = new Set(bases.map((base) => resultOf(base, user, other)));
  const results = [...contents].filter((result) => result !== undefined);
  if (results.length === 0) return { outcome: "conflict" };
  const marks = results.map((result) => joined(result, user, other));
  const [result] = marks;
  return result && contents.size === 1
    ? { outcome: "merged", result }
    : { outcome: "either", results: marks };
}

/** The contents after a three-way merge; `undefined` if both sides changed the file. */
function resultOf(base: Mark, user: Mark, other: Mark): Contents | undefined {
  if (base.contents === user.contents) return other.contents;
  return base.contents === other.contents ? user.contents : undefined;
}

/** A state with these contents that knows both states: one of them, if it knows the other. */
export function joined(contents: Contents, one: Mark, other: Mark): Mark {
  if (one.contents === contents && knows(one, other)) return one;
  if (other.contents === contents && knows(other, one)) return other;
  return mark(contents, one, other);
}
