import { setTimeout as sleep } from "node:timers/promises";
import type { MemoryProbe } from "./memory";

/**
 * Objects of which none may remain after the end of all sessions: a class with one instance per
 * session object, and the runtime's part of a stream of JavaScript.
 */
const KEPT = [
  { name: "Engine", type: "object" },
  { name: "workerd / ReadableStreamDefaultController", type: "native" },
] as const;

/**
 * Time limit for the release of all objects. The runtime evicts an idle object after ten seconds,
 * and frees its references to the object only while it works.
 */
const RELEASED_WITHIN_MS = 90_000;
const CHECK_EVERY_MS = 2_000;

/** The numbers of session objects and of streams in the service's memory. */
export async function countSessionObjects(probe: MemoryProbe): Promise<number[]> {
  const counts: number[] = [];
  for (const { name, type } of KEPT) counts.push(await probe.instances(name, type));
  return counts;
}

/**
 * Waits until no session object and no stream is in memory, or until the time limit. Returns the
 * numbers. `url`: address of the service. `restMs`: time until the sessions are idle.
 */
export async function remainingObjects(
  probe: MemoryProbe,
  url: string,
  restMs = 0,
): Promise<number[]> {
  const giveUpAt = performance.now() + restMs + RELEASED_WITHIN_MS;
  for (;;) {
    await (await fetch(`${url}/healthz`)).text();
    const remaining = await countSessionObjects(probe);
    if (remaining.every((count) => count === 0) || performance.now() > giveUpAt) return remaining;
    await sleep(CHECK_EVERY_MS);
  }
}
