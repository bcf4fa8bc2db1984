import { apart, type Coverage, type SeenPair, transitions } from "../engine/coverage";
import { FAULTS, type Fault } from "../engine/faults";

/** Pairs shall meet a hundred times; of fewer seeds than ten thousand only a hundredth of them can be asked. */
export const leastFor = (seeds: number): number =>
  Math.min(100, Math.max(1, Math.floor(seeds / 100)));

/** In so many seeds each kind of fault strikes, and by far: one that does not has lost its occasion. */
const SURELY_STRUCK_SEEDS = 1_000;

/** Kinds of faults that never struck although so many seeds were played that each must have. */
export const idleFaults = (coverage: Coverage, seeds: number): Fault[] =>
  seeds < SURELY_STRUCK_SEEDS ? [] : FAULTS.filter((fault) => !coverage.strikes.has(fault));

/** `thin`: pairs that can meet and met too seldom, of `pairs` that can. `disproved`: those that met although none should. */
export type CoverageTable = { text: string; thin: number; disproved: number; pairs: number };

/**
 * The marks as a table for people: a line per transition, how often it came up, and how many kinds of faults it met often enough.
 * Below it what is thin, each with its count, what it cannot meet, each with the reason, and what it met all the same.
 */
export function coverageTable(coverage: Coverage, least: number): CoverageTable {
  const thin = coverage.thin(least);
  const disproved = coverage.disproved();
  const lines = transitions().flatMap((type) => {
    const possible = FAULTS.filter((fault) => apart(type, fault) === null);
    const rare = thin.filter((pair) => pair.type === type).toSorted((a, b) => a.seen - b.seen);
    const wrong = disproved.filter((pair) => pair.type === type);
    const total = coverage.events.get(type) ?? 0;
    const enough = `${possible.length - rare.length}/${possible.length}`;
    return [
      `${type.padEnd(24)}${String(total).padStart(9)}${enough.padStart(9)}`,
      ...(rare.length > 0 ? [`  thin: ${inWords(rare)}`] : []),
      ...impossible(type),
      ...(wrong.length > 0 ? [`  met though named as unable to: ${inWords(wrong)}`] : []),
    ];
  });
  const head = `${"transition".padEnd(24)}${"seen".padStart(9)}${"faults".padStart(9)}`;
  const faults = FAULTS.map((fault) => `${fault} ${coverage.strikes.get(fault) ?? 0}`).join(" · ");
  const text = [head, ...lines, "", `strikes: ${faults}`, ""].join("\n");
  const pairs = transitions().flatMap((type) =>
    FAULTS.filter((fault) => apart(type, fault) === null),
  ).length;
  return { text, thin: thin.length, disproved: disproved.length, pairs };
}

const inWords = (pairs: readonly SeenPair[]): string =>
  pairs.map(({ fault, seen }) => `${fault} ${seen}`).join(" · ");

/** A line for each reason. */
function impossible(type: string): string[] {
  const byReason = new Map<string, Fault[]>();
  for (const fault of FAULTS) {
    const why = apart(type, fault);
    if (why !== null) byReason.set(why, [...(byReason.get(why) ?? []), fault]);
  }
  return [...byReason].map(([why, faults]) => `  cannot meet: ${faults.join(" · ")} – ${why}`);
}
