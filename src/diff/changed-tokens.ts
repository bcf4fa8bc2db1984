import { DIFF_LIMITS } from "./diff-limits";

/**
 * Counts comparison steps. A diff shares one budget between its files: without it, the work would
 * grow with the product of the number of files and the work for one file.
 */
export class StepBudget {
  #total: number;
  #left = 0;

  constructor(total: number = DIFF_LIMITS.totalSteps) {
    this.#total = total;
  }

  /** Whether all steps are used. */
  get isSpent(): boolean {
    return this.#total <= 0;
  }

  /** Runs `compare` with the steps of one file, or with the remaining steps if they are fewer. */
  forFile<T>(compare: () => T, most: number = DIFF_LIMITS.steps): T {
    const granted = Math.min(most, this.#total);
    this.#left = granted;
    const result = compare();
    this.#total -= granted - this.#left;
    return result;
  }

  /** Steps that the file may still use; negative after the last one. */
  get left(): number {
    return this.#left;
  }

  /** Uses steps. Returns `false` if the file has no steps left. */
  use(steps: number): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }
}

/** `removed[i]` and `added[i]`: 1 if the token `i` of the old or of the new side has no match. */
export type ChangedTokens = { removed: Uint8Array; added: Uint8Array };

/**
 * Compares two sequences of tokens with the fewest changes; `null` if this needs more steps than
 * the budget has. Tokens that only one side has cannot match, so only the other tokens are
 * searched.
 */
export function changedTokens(
  before: readonly string[],
  after: readonly string[],
  budget: StepBudget,
): ChangedTokens | null {
  if (before.length + after.length > DIFF_LIMITS.tokens) return null;
  const result = {
    removed: new Uint8Array(before.length).fill(1),
    added: new Uint8Array(after.length).fill(1),
  };
  const [old, fresh] = sharedTokens(before, after);
  const search = new Search(old.ids, fresh.ids, budget);
  if (!search.run()) return null;
  for (const [index, place] of old.places.entries())
    result.removed[place] = search.removed[index] ?? 1;
  for (const [index, place] of fresh.places.entries())
    result.added[place] = search.added[index] ?? 1;
  return result;
}

/** The tokens of one side that the other side also has: equal numbers are equal tokens. */
type SharedTokens = { ids: Int32Array; places: Int32Array };

function sharedTokens(
  before: readonly string[],
  after: readonly string[],
): [SharedTokens, SharedTokens] {
  const numbers = new Map<string, number>();
  const beforeIds = new Int32Array(before.length);
  for (let place = 0; place < before.length; place += 1) {
    const token = before[place] ?? "";
    const id = numbers.get(token) ?? numbers.size;
    if (id === numbers.size) numbers.set(token, id);
    beforeIds[place] = id;
  }
  const isInAfter = new Uint8Array(numbers.size);
  const afterIds = new Int32Array(after.length);
  for (let place = 0; place < after.length; place += 1) {
    const id = numbers.get(after[place] ?? "") ?? -1;
    afterIds[place] = id;
    if (id >= 0) isInAfter[id] = 1;
  }
  return [selected(beforeIds, (id) => isInAfter[id] === 1), selected(afterIds, (id) => id >= 0)];
}

function selected(ids: Int32Array, isShared: (id: number) => boolean): SharedTokens {
  const shared = { ids: new Int32Array(ids.length), places: new Int32Array(ids.length) };
  let count = 0;
  for (let place = 0; place < ids.length; place += 1) {
    const id = ids[place] ?? -1;
    if (!isShared(id)) continue;
    shared.ids[count] = id;
    shared.places[count] = place;
    count += 1;
  }
  return { ids: shared.ids.subarray(0, count), places: shared.places.subarray(0, count) };
}

/** A part of both sequences: from `oldFrom` up to `oldTo`, and from `newFrom` up to `newTo`. */
type Part = { oldFrom: number; oldTo: number; newFrom: number; newTo: number };

/**
 * Search for the shortest edit script, in linear space (Myers, "An O(ND) difference algorithm",
 * 1986): paths from both ends meet in the middle, and each half is searched in the same way. The
 * number of edits halves each time, so the depth is logarithmic.
 */
class Search {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
  readonly #old: Int32Array;
  readonly #new: Int32Array;
  readonly #budget: StepBudget;
  /** The furthest old position on each diagonal, from the start and from the end. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;

  constructor(before: Int32Array, after: Int32Array, budget: StepBudget) {
    this.#old = before;
    this.#new = after;
    this.#budget = budget;
    this.removed = new Uint8Array(before.length);
    this.added = new Uint8Array(after.length);
    const diagonals = before.length + after.length + 3;
    this.#forward = new Int32Array(diagonals);
    this.#backward = new Int32Array(diagonals);
  }

  /** Returns `false` if the budget ends before the search. */
  run(): boolean {
    const parts: Part[] = [
      { oldFrom: 0, oldTo: this.#old.length, newFrom: 0, newTo: this.#new.length },
    ];
    for (let part = parts.pop(); part; part = parts.pop()) {
      const rest = this.#trimmed(part);
      if (rest.oldFrom === rest.oldTo) this.added.fill(1, rest.newFrom, rest.newTo);
      else if (rest.newFrom === rest.newTo) this.removed.fill(1, rest.oldFrom, rest.oldTo);
      else {
        const middle = this.#middle(rest);
        if (middle === null) return false;
        const [oldMiddle, newMiddle] = middle;
        parts.push(
          { ...rest, oldTo: oldMiddle, newTo: newMiddle },
          { ...rest, oldFrom: oldMiddle, newFrom: newMiddle },
        );
      }
    }
    return true;
  }

  /** The part without the same tokens at its start and at its end. */
  #trimmed({ oldFrom, oldTo, newFrom, newTo }: Part): Part {
    while (oldFrom < oldTo && newFrom < newTo && this.#old[oldFrom] === this.#new[newFrom]) {
      oldFrom += 1;
      newFrom += 1;
    }
    while (oldFrom < oldTo && newFrom < newTo && this.#old[oldTo - 1] === this.#new[newTo - 1]) {
      oldTo -= 1;
      newTo -= 1;
    }
    return { oldFrom, oldTo, newFrom, newTo };
  }

  /** A point on a shortest path, in its middle; `null` if the budget ends before. */
  #middle(part: Part): readonly [number, number] | null {
    const oldCount = part.oldTo - part.oldFrom;
    const newCount = part.newTo - part.newFrom;
    const most = Math.ceil((oldCount + newCount) / 2);
    if (!this.#budget.use(oldCount + newCount)) return null;
    const forward = this.#ends(this.#forward, most);
    const backward = this.#ends(this.#backward, most);
    for (let edits = 0; edits <= most; edits += 1) {
      const ahead = this.#extend(part, edits, { paths: forward, others: backward, step: 1 });
      if (ahead === "spent") return null;
      if (ahead) return ahead;
      const back = this.#extend(part, edits, { paths: backward, others: forward, step: -1 });
      if (back === "spent") return null;
      if (back) return back;
    }
    throw new Error("two paths did not meet");
  }

  /** Paths of a new search. Diagonal `d` is at `d + most + 1`; -1: no path reached it yet. */
  #ends(array: Int32Array, most: number): Paths {
    array.fill(-1, 0, 2 * most + 3);
    array[most + 2] = 0;
    return { furthest: array, origin: most + 1, first: 0, last: 0 };
  }

  /**
   * Makes all paths of one side one edit longer. Returns the point where one of them meets a path
   * of the other side; `null` if none does.
   */
  #extend(
    { oldFrom, oldTo, newFrom, newTo }: Part,
    edits: number,
    { paths, others, step }: { paths: Paths; others: Paths; step: 1 | -1 },
  ): readonly [number, number] | "spent" | null {
    const [before, after, { furthest, origin }] = [this.#old, this.#new, paths];
    const [oldCount, newCount] = [oldTo - oldFrom, newTo - newFrom];
    const [oldStart, newStart] = step === 1 ? [oldFrom, newFrom] : [oldTo - 1, newTo - 1];
    const delta = oldCount - newCount;
    // The paths from the start become longer first, so they meet the others if the sum of the edits
    // is odd.
    const mayMeet = (delta % 2 !== 0) === (step === 1);
    const mostSteps = this.#budget.left;
    let steps = 0;
    for (let d = paths.first - edits; d <= edits - paths.last && steps <= mostSteps; d += 2) {
      const below = furthest[origin + d - 1] ?? -1;
      const above = furthest[origin + d + 1] ?? -1;
      let x = d === -edits || (d !== edits && below < above) ? above : below + 1;
      let y = x - d;
      const start = x;
      while (
        x < oldCount &&
        y < newCount &&
        before[oldStart + step * x] === after[newStart + step * y]
      ) {
        x += 1;
        y += 1;
      }
      furthest[origin + d] = x;
      steps += x - start + 1;
      if (x > oldCount) paths.last += 2;
      else if (y > newCount) paths.first += 2;
      else if (mayMeet) {
        const other = others.furthest[others.origin + delta - d] ?? -1;
        const isReached = Math.abs(delta - d) <= others.origin && other >= 0;
        if (isReached && x >= oldCount - other) {
          this.#budget.use(steps);
          return step === 1 ? [oldFrom + x, newFrom + y] : [oldTo - x, newTo - y];
        }
      }
    }
    return this.#budget.use(steps) ? null : "spent";
  }
}

/** `first` and `last`: diagonals at both edges whose paths have left the grid. */
type Paths = { furthest: Int32Array; origin: number; first: number; last: number };
