/** CPU time of `referenceWork` in ms on the machine that the limits assume. */
const REFERENCE_MS = 50;
const REFERENCE_RUNS = 5;

/**
 * How many times slower this machine is now than the machine that the limits assume; at least 1.
 * Limits in CPU time need it: the same work takes longer on a slower processor or on one that
 * shares its caches.
 */
export function slowness(): number {
  const runs = Array.from({ length: REFERENCE_RUNS }, () => {
    const before = process.threadCpuUsage();
    referenceWork();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  return Math.max(1, (runs[REFERENCE_RUNS >> 1] ?? REFERENCE_MS) / REFERENCE_MS);
}

/** Fixed work like the service's: splits, sorts, joins and parses text. */
function referenceWork(): void {
  const lines = Array.from(
    { length: 30_000 },
    (_, nth) => `line ${(nth * 7_919) % 30_011} of the reference`,
  );
  JSON.parse(JSON.stringify(lines.join("\n").split("\n").sort()));
}
