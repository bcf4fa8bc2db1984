/**
 * Processor time that this process has used so far, in ms: for what must not take long to work out. A clock would count the time, too,
 * in which the machine stalls or does other work.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
