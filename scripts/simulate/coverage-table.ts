import { apart, type Coverage, NEVER, transitions } from "../../tests/simulation/engine/coverage";
import { FAULTS } from "../../tests/simulation/engine/faults";

/** The marks as a table for people: a line per transition, how often it met the kind of fault it met least, and what it cannot meet. */
export function coverageTable(coverage: Coverage, least: number): { text: string; thin: number } {
  const lines = transitions().map((type) => {
    const faults = FAULTS.filter((fault) => apart(type, fault) === null);
    const counts = faults.map((fault) => ({ fault, seen: coverage.pairs.get(`${type} ${fault}`) ?? 0 }));
    const [rarest] = counts.toSorted((a, b) => a.seen - b.seen);
    const total = coverage.events.get(type) ?? 0;
    const enough = counts.filter(({ seen }) => seen >= least).length;
    const rare = rarest ? `${rarest.fault} ${rarest.seen}` : "";
    return `${type.padEnd(24)}${String(total).padStart(9)}${`${enough}/${faults.length}`.padStart(9)}  ${rare}`;
  });
  const never = Object.entries(NEVER).map(([type, why]) => `${type.padEnd(24)} never: ${why}`);
  const head = `${"transition".padEnd(24)}${"seen".padStart(9)}${"faults".padStart(9)}  met least`;
  const faults = FAULTS.map((fault) => `${fault} ${coverage.strikes.get(fault) ?? 0}`).join(" · ");
  const text = [head, ...lines, ...never, "", `strikes: ${faults}`, ""].join("\n");
  return { text, thin: coverage.thin(least).length };
}
