import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const ASK_EVERY_MS = 10;

/** The longest wait for `/healthz`, in ms: by the clock, and in processor time that the service used meanwhile. */
export type LongestWait = { wallMs: number; cpuMs: number };

/**
 * Asks for `/healthz` again and again while `work` runs. A service that computes without a pause uses the processor for as long as
 * it does not answer; one that only waits for a busy machine does not, so `cpuMs` is the service's own silence.
 */
export async function healthDuring(
  service: { url: string; pid: number | null },
  work: () => Promise<unknown>,
): Promise<LongestWait> {
  let isDone = false;
  const longest: LongestWait = { wallMs: 0, cpuMs: 0 };
  const watch = (async () => {
    while (!isDone) {
      const [startedAt, usedBefore] = [performance.now(), cpuOf(service.pid)];
      const response = await fetch(`${service.url}/healthz`);
      await response.text();
      if (response.status !== 200) throw new Error(`/healthz answered ${response.status}`);
      longest.wallMs = Math.max(longest.wallMs, performance.now() - startedAt);
      longest.cpuMs = Math.max(longest.cpuMs, cpuOf(service.pid) - usedBefore);
      await sleep(ASK_EVERY_MS);
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await watch;
  }
  return longest;
}

/** Processor time of the busiest thread of a process, the one that runs JavaScript, in ms. Linux only. */
function cpuOf(pid: number | null): number {
  if (pid === null) return 0;
  const threads = readdirSync(`/proc/${pid}/task`);
  const used = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]));
  return Math.max(...used) / 1e6;
}
