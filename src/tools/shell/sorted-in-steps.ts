/** Lines that are put in order without a pause. */
const RUN = 64;
/** Comparisons between two looks at whether others should get their turn. */
const LOOK_EVERY = 64;

type Compare = (a: string, b: string) => number;

/**
 * Lines in order; equal ones keep theirs. The sort of the runtime cannot pause: a megabyte of lines takes it 0.2 s. `breathe` says
 * when to wait.
 */
export async function sortedInSteps(
  lines: readonly string[],
  compare: Compare,
  breathe: () => Promise<void> | undefined,
): Promise<string[]> {
  let from: string[] = [];
  for (let start = 0; start < lines.length; start += RUN) {
    for (const line of lines.slice(start, start + RUN).sort(compare)) from.push(line);
    await breathe();
  }
  let into: string[] = new Array<string>(lines.length);
  for (let width = RUN; width < lines.length; width *= 2) {
    for (let start = 0; start < lines.length; start += 2 * width)
      await merge({ from, into, start, width }, compare, breathe);
    [from, into] = [into, from];
  }
  return from;
}

type Merge = { from: readonly string[]; into: string[]; start: number; width: number };

/** Merges two runs that lie side by side. */
async function merge(
  { from, into, start, width }: Merge,
  compare: Compare,
  breathe: () => Promise<void> | undefined,
): Promise<void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(middle + width, from.length);
  if (middle === end || compare(from[middle - 1] ?? "", from[middle] ?? "") <= 0) {
    for (let at = start; at < end; at++) into[at] = from[at] ?? "";
    return;
  }
  let [left, right] = [start, middle];
  for (let at = start; at < end; at++) {
    const [one = "", other = ""] = [from[left], from[right]];
    const isLeft = left < middle && (right >= end || compare(one, other) <= 0);
    into[at] = isLeft ? one : other;
    if (isLeft) left++;
    else right++;
    if (at % LOOK_EVERY === 0) {
      const pause = breathe();
      if (pause !== undefined) await pause;
    }
  }
}
