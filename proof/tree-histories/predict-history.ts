import { type ReadEntry, summaryText } from "../../simulated/providers/tree-models";
import { branchOf, type State, type Summary, type Turn } from "./state";
import type { ShownHistory } from "./world";

/**
 * What the agents of a turn read of the turns before it, by the rules of decision 0112. The service
 * decides with sizes that include its marks around texts. Their size is not predicted, so where a
 * text is close to a limit, both decisions are correct.
 */

/** Most bytes of earlier turns in a prompt: 40 % of 128,000 tokens, with three bytes per token. */
export const SHARE = 0.4 * 128_000 * 3;
/** Most bytes of a summary. */
const SUMMARY_BYTES = 24 * 1024;
/** Most bytes that remain of a turn before the latest turn that is cut. */
const REST_BYTES = 1_000;
/** Most bytes of the marks around a turn or a summary. */
const MARKS_BYTES = 1_000;
const USUAL_MARKS_BYTES = MARKS_BYTES / 2;

/**
 * The branch of a turn before its start. `summary`: the longest one; `null` if there is none.
 * `turns`: those after the summary, oldest first, without failed ones.
 */
export type Past = { summary: Summary | null; turns: readonly Turn[] };

export function pastOf(state: State, parent: number | null): Past {
  const branch = branchOf(state, parent);
  const summaries = branch.map(({ number }) =>
    state.summaries.find(({ turns }) => turns.at(-1) === number),
  );
  const at = summaries.findLastIndex((summary) => summary !== undefined);
  const turns = branch.slice(at + 1).filter(({ read }) => read !== null);
  return { summary: summaries[at] ?? null, turns };
}

/**
 * What agents read. `through`: the last turn that they read only as part of a summary; `null`
 * without a summary. `cut`: the numbers of the turns whose texts are cut.
 */
export type Reading = { through: number | null; cut: ReadonlySet<number> };

const lastOf = (summary: Summary | null): number | null => summary?.turns.at(-1) ?? null;

/** The summary of all turns up to this one. */
export function summaryThrough({ summary, turns }: Past, through: number): Summary {
  const last = turns.findIndex(({ number }) => number === through);
  const covered = turns.slice(0, last + 1);
  return {
    turns: [...(summary?.turns ?? []), ...covered.map(({ number }) => number)],
    text: summaryText([...entriesOf(summary), ...covered.flatMap(({ read }) => read ?? [])]),
  };
}

/** The entries that agents read, and the summary that must be written before; `null` if none. */
export function readHistory(
  past: Past,
  { through, cut }: Reading,
): { entries: ReadEntry[]; written: Summary | null } {
  const written =
    through === null || through === lastOf(past.summary) ? null : summaryThrough(past, through);
  const rest = past.turns.filter(({ number }) => !written?.turns.includes(number));
  const entries = rest.flatMap(({ number, read }) =>
    read ? [{ ...read, isCut: cut.has(number) }] : [],
  );
  return { written, entries: [...entriesOf(written ?? past.summary), ...entries] };
}

const entriesOf = (summary: Summary | null): ReadEntry[] =>
  summary ? [{ summary: summary.text, messages: summary.turns.length }] : [];

/** One of the correct decisions of the service. */
export function usualReading(past: Past): Reading {
  const last = lastSummarised(past, USUAL_MARKS_BYTES);
  if (last === null) return { through: lastOf(past.summary), cut: new Set() };
  return last.refusesSummary
    ? { through: lastOf(past.summary), cut: usualCut(past) }
    : { through: last.number, cut: new Set() };
}

/** How a decision of the service is wrong; `null` if it is correct. */
export function readingProblem(past: Past, { through, isCut, written }: ShownHistory) {
  const allowed = allowedLast(past);
  const names = allowed.map((turn) => turn?.number ?? "none").join(" or ");
  const stored = lastOf(past.summary);
  if (isCut)
    return allowed.some((turn) => turn?.refusesSummary) && through === stored
      ? null
      : `texts are cut, although the summary of turn ${names} can be written`;
  if (written.length === 0) {
    if (through !== stored) return `the summary of turn ${through} is used, expected ${stored}`;
    return allowed.includes(null) ? null : `no summary is written, expected that of turn ${names}`;
  }
  return allowed.some((turn) => turn?.number === through && !turn.refusesSummary)
    ? null
    : `the summary of turn ${through} is written, expected that of turn ${names}`;
}

/** The last turns that a new summary may cover; `null` for no summary. */
function allowedLast(past: Past): (Turn | null)[] {
  const [least, most] = [lastSummarised(past, 0), lastSummarised(past, MARKS_BYTES)];
  const places = [least, most].flatMap((turn) => (turn ? [past.turns.indexOf(turn)] : []));
  const [from, to] = [Math.min(...places), Math.max(...places)];
  return [...(least ? [] : [null]), ...(most ? past.turns.slice(from, to + 1) : [])];
}

/**
 * The last turn that a new summary covers; `null` if the turns are short enough. Then half of the
 * share is free, with the summary. The latest turn stays in full if it fits.
 */
function lastSummarised({ summary, turns }: Past, marks: number): Turn | null {
  const sizes = turns.map(({ bytes }) => bytes + marks);
  if (storedBytes(summary, marks) + sum(sizes) <= SHARE) return null;
  const rest = (from: number) => SUMMARY_BYTES + sum(sizes.slice(from + 1));
  const first = sizes.findIndex((_, index) => rest(index) <= SHARE / 2);
  const latest = turns.length - 1;
  const keepsLatest = first === latest && latest > 0 && rest(latest - 1) <= SHARE;
  return turns[keepsLatest ? latest - 1 : first] ?? null;
}

const storedBytes = (summary: Summary | null, marks: number): number =>
  summary ? Buffer.byteLength(summary.text) + marks : 0;
const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

/** The turns that must be cut, if the marks have a usual size. */
function usualCut({ summary, turns }: Past): Set<number> {
  const sizes = turns.map(({ bytes }) => bytes + USUAL_MARKS_BYTES);
  let excess = storedBytes(summary, USUAL_MARKS_BYTES) + sum(sizes) - SHARE;
  const cut = new Set<number>();
  for (const [index, { number }] of turns.entries()) {
    const size = sizes[index] ?? 0;
    if (excess <= 0) break;
    if (size <= REST_BYTES) continue;
    cut.add(number);
    excess -= size - Math.max(REST_BYTES, size - excess);
  }
  return cut;
}

/**
 * How a choice of cut turns is wrong; `null` if it is correct: the oldest turns are cut, each down
 * to a short rest, and no more of them than necessary.
 */
export function cutProblem({ summary, turns }: Past, cut: ReadonlySet<number>): string | null {
  const last = turns.findLastIndex(({ number }) => cut.has(number));
  const inFull = turns.find(
    ({ number, bytes }, index) => index < last && bytes > REST_BYTES && !cut.has(number),
  );
  if (inFull) return `turn ${inFull.number} is in full, but a later turn is cut`;
  const whole = turns.filter(({ number }) => !cut.has(number)).map(({ bytes }) => bytes);
  if (storedBytes(summary, 0) + sum(whole) > SHARE) return "too few turns are cut";
  const before = turns.slice(0, Math.max(0, last)).map(() => REST_BYTES);
  const after = turns.slice(Math.max(0, last)).map(({ bytes }) => bytes + MARKS_BYTES);
  const isNeeded = storedBytes(summary, MARKS_BYTES) + sum(before) + sum(after) > SHARE;
  return isNeeded ? null : `turn ${turns[last]?.number ?? 0} is cut without need`;
}
