import { slowness } from "../machine-speed";

/**
 * Runs work and measures the longest stretch in which no timer could run: the time that every other
 * request has to wait. `cpuMs` is CPU time of this thread divided by the machine's `slowness`, so
 * that other load and a slow processor do not change it.
 */
export async function silenceDuring<T>(
  work: () => Promise<T>,
): Promise<{ result: T; cpuMs: number }> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, user + system);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(look, 1);
  try {
    const result = await work();
    look();
    return { result, cpuMs: longest / 1000 / slowness() };
  } finally {
    clearInterval(timer);
  }
}
