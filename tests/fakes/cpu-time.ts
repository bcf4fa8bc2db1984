/**
 * The CPU time that this process has used, in ms. Tests that limit a computation measure this
 * time, because a clock also counts while the machine stalls or does other work.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
