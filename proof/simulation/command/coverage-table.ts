import { whyImpossible, type Coverage, type PairCount, transitions } from "../engine/coverage";
import { FAULTS, type Fault } from "../engine/faults";

/**
 * How often each pair of a transition and a fault must meet: 100 times in 10,000 seeds, and
 * proportionally less often in fewer seeds.
 */
export const minMeetings = (seeds: number): number =>
  Math.min(100, Math.max(1, Math.floor(seeds / 100)));

/**
 * With at least this many seeds, each kind of fault normally strikes many times. If a kind never
 * strikes, the simulation no longer has an occasion for that kind.
 */
const SURELY_STRUCK_SEEDS = 1_000;

/** Kinds of faults that never struck although enough seeds were played. */
export const idleFaults = (coverage: Coverage, seeds: number): Fault[] =>
  seeds < SURELY_STRUCK_SEEDS ? [] : FAULTS.filter((fault) => !coverage.strikes.has(fault));

/**
 * `pairs`: the number of possible pairs. `thin`: the number of possible pairs that met too seldom.
 * `disproved`: the number of pairs that met although they are declared impossible.
 */
type CoverageTable = { text: string; thin: number; disproved: number; pairs: number };

/**
 * A table with one line per transition: its count, and the number of fault kinds that met it often
 * enough. Below a transition are its thin pairs with counts, its impossible pairs with reasons, and
 * the impossible pairs that met nevertheless.
 */
export function coverageTable(coverage: Coverage, least: number): CoverageTable {
  const thin = coverage.thin(least);
  const disproved = coverage.disproved();
  const lines = transitions().flatMap((type) => {
    const possible = FAULTS.filter((fault) => whyImpossible(type, fault) === null);
    const rare = thin.filter((pair) => pair.type === type).toSorted((a, b) => a.seen - b.seen);
    const wrong = disproved.filter((pair) => pair.type === type);
    const total = coverage.events.get(type) ?? 0;
    const enough = `${possible.length - rare.length}/${possible.length}`;
    return [
      `${type.padEnd(24)}${String(total).padStart(9)}${enough.padStart(9)}`,
      ...(rare.length > 0 ? [`  thin: ${pairsInWords(rare)}`] : []),
      ...impossibleLines(type),
      ...(wrong.length > 0 ? [`  met though declared impossible: ${pairsInWords(wrong)}`] : []),
    ];
  });
  const head = `${"transition".padEnd(24)}${"seen".padStart(9)}${"faults".padStart(9)}`;
  const faults = FAULTS.map((fault) => `${fault} ${coverage.strikes.get(fault) ?? 0}`).join(" · ");
  const text = [head, ...lines, "", `strikes: ${faults}`, ""].join("\n");
  const pairs = transitions().flatMap((type) =>
    FAULTS.filter((fault) => whyImpossible(type, fault) === null),
  ).length;
  return { text, thin: thin.length, disproved: disproved.length, pairs };
}

const pairsInWords = (pairs: readonly PairCount[]): string =>
  pairs.map(({ fault, seen }) => `${fault} ${seen}`).join(" · ");

/** The impossible pairs of a transition, one line per reason. */
function impossibleLines(type: string): string[] {
  const byReason = new Map<string, Fault[]>();
  for (const fault of FAULTS) {
    const why = whyImpossible(type, fault);
    if (why !== null) byReason.set(why, [...(byReason.get(why) ?? []), fault]);
  }
  return [...byReason].map(([why, faults]) => `  cannot meet: ${faults.join(" · ")} – ${why}`);
}
