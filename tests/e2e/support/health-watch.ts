import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { slowness } from "../../machine-speed";

const ASK_EVERY_MS = 10;

/**
 * The longest wait for `/healthz`, in ms. `wallMs`: as measured by the clock. `ownMs`: without the
 * part that the machine caused, divided by the machine's `slowness`. The machine caused the longer
 * of two times: the wait for an idle server at the same time, and the time in which the service's
 * thread waited for a processor.
 */
type LongestWait = { wallMs: number; ownMs: number };

type Servers = {
  service: { url: string; pid: number | null };
  idle: { url: string };
};
/**
 * A wait for one response, in ms of `performance.now()`. `queuedMs`: the part of the wait in which
 * the responding thread waited for a processor.
 */
type Wait = { from: number; to: number; queuedMs: number };

/** Sends requests to `/healthz` and to an idle server repeatedly while `work` runs. */
export async function healthDuring(
  { service, idle }: Servers,
  work: () => Promise<unknown>,
): Promise<LongestWait> {
  let isDone = false;
  const watch = async (url: string, pid: number | null): Promise<Wait[]> => {
    const waits: Wait[] = [];
    while (!isDone) {
      const [from, before] = [performance.now(), threadsOf(pid)];
      const response = await fetch(url);
      await response.text();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      waits.push({ from, to: performance.now(), queuedMs: queuedBetween(before, threadsOf(pid)) });
      await sleep(ASK_EVERY_MS);
    }
    return waits;
  };
  const watches = Promise.all([
    watch(`${service.url}/healthz`, service.pid),
    watch(idle.url, null),
  ]);
  try {
    await work();
  } finally {
    isDone = true;
    await watches;
  }
  const [waits, machine] = await watches;
  return {
    wallMs: Math.max(0, ...waits.map(lengthOf)),
    ownMs: ownPart(waits, machine) / slowness(),
  };
}

/** The longest of `waits`, each without the part that the machine caused. */
export const ownPart = (waits: readonly Wait[], machine: readonly Wait[]): number =>
  Math.max(
    0,
    ...waits.map((wait) => {
      const concurrent = machine.filter(({ from, to }) => from < wait.to && to > wait.from);
      return lengthOf(wait) - Math.max(wait.queuedMs, ...concurrent.map(lengthOf));
    }),
  );

const lengthOf = ({ from, to }: Pick<Wait, "from" | "to">): number => to - from;

/**
 * Makes at most `tries` attempts and returns the result with the shortest wait. Stops after a
 * result below `mostMs`. The service's own work takes the same time in each attempt, but the other
 * load of the machine varies.
 */
export async function bestOf(
  tries: number,
  mostMs: number,
  attempt: () => Promise<LongestWait>,
): Promise<LongestWait> {
  let best = await attempt();
  for (let nth = 1; nth < tries && best.ownMs >= mostMs; nth++) {
    const next = await attempt();
    if (next.ownMs < best.ownMs) best = next;
  }
  return best;
}

/** Times of a thread in ms: the time that it ran, and the time that it waited for a processor. */
type Thread = { ranMs: number; queuedMs: number };

/** The threads of a process by id. Works only on Linux. */
function threadsOf(pid: number | null): Map<string, Thread> {
  if (pid === null) return new Map();
  const threads = readdirSync(`/proc/${pid}/task`).map((id): [string, Thread] => {
    const [ran, queued] = readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ");
    return [id, { ranMs: Number(ran) / 1e6, queuedMs: Number(queued) / 1e6 }];
  });
  return new Map(threads);
}

/** Time in ms that the busiest thread waited for a processor. This thread runs the JavaScript. */
function queuedBetween(
  before: ReadonlyMap<string, Thread>,
  after: ReadonlyMap<string, Thread>,
): number {
  let busiest: Thread = { ranMs: 0, queuedMs: 0 };
  for (const [id, { ranMs, queuedMs }] of after) {
    const earlier = before.get(id) ?? { ranMs: 0, queuedMs: 0 };
    if (ranMs - earlier.ranMs > busiest.ranMs)
      busiest = { ranMs: ranMs - earlier.ranMs, queuedMs: queuedMs - earlier.queuedMs };
  }
  return busiest.queuedMs;
}
