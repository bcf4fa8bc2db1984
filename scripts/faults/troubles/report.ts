import { BOOKS } from "../runs/tenant-books";
import type { TroubleFigures } from "./campaign";

/** What went wrong, then a line for each row of faults. */
export function toTroubleReport({ seed, rows, failures, seconds }: TroubleFigures): string {
  const wrong = failures.flatMap(({ name, seed: own, problems }) => [
    ...problems.map((problem) => `✗ ${name}: ${problem}`),
    `  again: npm run faults -- --storage --seed ${own}${name === BOOKS ? "" : ` --only ${JSON.stringify(name)}`}`,
    "",
  ]);
  const width = Math.max(...rows.map(({ row }) => row.length), "Seed, time".length);
  const lines = rows.map(
    ({ row, troubles, runs, problems }) => `${row.padEnd(width)}  ${troubles} faults, ${runs} runs, ${problems} wrong`,
  );
  return [...wrong, ...lines, `${"Seed, time".padEnd(width)}  ${seed}, ${Math.round(seconds)} s`, ""].join("\n");
}
