/** CPU time of `referenceWork` in ms on the machine that the limits assume. */
const REFERENCE_MS = 50;
const REFERENCE_RUNS = 5;

/**
 * The factor by which this machine is slower now than the machine that the limits assume; at least
 * 1. Tests with a limit of CPU time use it, because the same work takes longer on a slower
 * processor, or on a processor that shares its caches.
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

/** A fixed amount of work that is similar to the work of the service. */
function referenceWork(): void {
  const lines = Array.from(
    { length: 30_000 },
    (_, nth) => `line ${(nth * 7_919) % 30_011} of the reference`,
  );
  JSON.parse(JSON.stringify(lines.join("\n").split("\n").sort()));
}
