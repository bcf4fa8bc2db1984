/**
 * CPU time of this process so far, in ms, for limits on computation. A wall clock would include
 * time in which the machine stalls or does other work.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
