import { slowness } from "../machine-speed";

/**
 * Runs work and measures the longest time in which no timer could run. Other requests have to wait
 * during this time. `cpuMs` is the CPU time of this thread, divided by the machine's `slowness`. So
 * other load and a slow processor do not change the result.
 */
export async function silenceDuring<T>(
  work: () => Promise<T>,
): Promise<{ result: T; cpuMs: number }> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const measure = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, user + system);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(measure, 1);
  try {
    const result = await work();
    measure();
    return { result, cpuMs: longest / 1000 / slowness() };
  } finally {
    clearInterval(timer);
  }
}
