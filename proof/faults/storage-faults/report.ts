import type { StorageFaultFigures } from "./campaign";

/** Failures first, then one line per row of faults. */
export function toStorageFaultReport({
  seed,
  rows,
  failures,
  seconds,
}: StorageFaultFigures): string {
  const wrong = failures.flatMap(({ name, problems, folder, command }) => [
    ...problems.map((problem) => `✗ ${name}: ${problem}`),
    `  kept in ${folder}`,
    `  again: ${command}`,
    "",
  ]);
  const width = Math.max(...rows.map(({ row }) => row.length), "Seed, time".length);
  const lines = rows.map(
    ({ row, faults, runs, problems }) =>
      `${row.padEnd(width)}  ${faults} faults, ${runs} runs, ${problems} wrong`,
  );
  return [
    ...wrong,
    ...lines,
    `${"Seed, time".padEnd(width)}  ${seed}, ${Math.round(seconds)} s`,
    "",
  ].join("\n");
}
