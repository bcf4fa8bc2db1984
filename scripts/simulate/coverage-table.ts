import { apart, type Coverage, transitions } from "../../tests/simulation/engine/coverage";
import { FAULTS, type Fault } from "../../tests/simulation/engine/faults";

/** Pairs shall meet a hundred times; of fewer seeds than ten thousand only a hundredth of them can be asked. */
export const leastFor = (seeds: number): number => Math.min(100, Math.max(1, Math.floor(seeds / 100)));

/**
 * The marks as a table for people: a line per transition, how often it came up, and how many kinds of faults it met often enough.
 * Below it what is thin, each with its count, and what it cannot meet, each with the reason.
 */
export function coverageTable(coverage: Coverage, least: number): { text: string; thin: number; pairs: number } {
  const thin = coverage.thin(least);
  const lines = transitions().flatMap((type) => {
    const possible = FAULTS.filter((fault) => apart(type, fault) === null);
    const rare = thin.filter((pair) => pair.type === type).toSorted((a, b) => a.seen - b.seen);
    const total = coverage.events.get(type) ?? 0;
    const enough = `${possible.length - rare.length}/${possible.length}`;
    return [
      `${type.padEnd(24)}${String(total).padStart(9)}${enough.padStart(9)}`,
      ...(rare.length > 0 ? [`  thin: ${rare.map(({ fault, seen }) => `${fault} ${seen}`).join(" · ")}`] : []),
      ...impossible(type),
    ];
  });
  const head = `${"transition".padEnd(24)}${"seen".padStart(9)}${"faults".padStart(9)}`;
  const faults = FAULTS.map((fault) => `${fault} ${coverage.strikes.get(fault) ?? 0}`).join(" · ");
  const text = [head, ...lines, "", `strikes: ${faults}`, ""].join("\n");
  const pairs = transitions().flatMap((type) => FAULTS.filter((fault) => apart(type, fault) === null)).length;
  return { text, thin: thin.length, pairs };
}

/** A line for each reason. */
function impossible(type: string): string[] {
  const byReason = new Map<string, Fault[]>();
  for (const fault of FAULTS) {
    const why = apart(type, fault);
    if (why !== null) byReason.set(why, [...(byReason.get(why) ?? []), fault]);
  }
  return [...byReason].map(([why, faults]) => `  cannot meet: ${faults.join(" · ")} – ${why}`);
}
