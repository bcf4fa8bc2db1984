/**
 * Runs work and measures the longest stretch in which no timer could run: what every other request has to wait. `cpuMs` counts
 * the time that this process computed, so that it is the same on a machine that is busy with other things.
 */
export async function silenceDuring<T>(
  work: () => Promise<T>,
): Promise<{ result: T; cpuMs: number }> {
  let longest = 0;
  let last = process.cpuUsage();
  const look = (): void => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, user + system);
    last = process.cpuUsage();
  };
  const timer = setInterval(look, 1);
  try {
    const result = await work();
    look();
    return { result, cpuMs: longest / 1000 };
  } finally {
    clearInterval(timer);
  }
}
