import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HEADER_LIMIT_MS } from "../../durable-objects/shared/object-limits";
import { sleep } from "../../src/async/sleep";
import { Semaphore } from "../../src/async/semaphore";
import { LIMITS } from "../../src/coordination/limits";
import { CALL_TIME_LIMITS } from "../../src/providers/call-limits";

/** How much time is saved because slots yield. Decision 0087 quotes these numbers. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HEADERS_MS = 2_000;
const REPLY_MS = 10_000;
const PAUSE_MS = 2_000;
const CALLS = 4;
/** Few slots, so that a small team shows what yielding saves. */
const SLOTS = 4;
const never = new AbortController().signal;
const keepSlot = () => undefined;

/** An agent whose provider sends no headers. Only the first try of its call may yield its slot. */
async function stalledAgent(slots: Semaphore, mayYield: boolean): Promise<void> {
  for (let attempt = 0; attempt < LIMITS.triesPerCall; attempt++) {
    const yielded = Promise.withResolvers<void>();
    const onYield = attempt === 0 ? () => yielded.resolve() : null;
    const release = await slots.acquire(never, mayYield ? onYield : keepSlot);
    await Promise.race([yielded.promise, sleep(CALL_TIME_LIMITS.firstByteMs)]);
    release();
    await sleep(PAUSE_MS * 2 ** attempt);
  }
}

/** An agent with four calls. Each call holds a slot until its headers have arrived. */
async function healthyAgent(slots: Semaphore): Promise<void> {
  for (let nth = 0; nth < CALLS; nth++) {
    const release = await slots.acquire(never, keepSlot);
    await sleep(HEADERS_MS);
    release();
    await sleep(REPLY_MS);
  }
}

/** The time in ms after which all healthy agents are done. */
async function lastDoneMs(agents: { stalled: number; healthy: number }, mayYield: boolean) {
  const slots = new Semaphore(SLOTS, mayYield ? HEADER_LIMIT_MS : 2 ** 31 - 1);
  const startedAt = Date.now();
  for (let nth = 0; nth < agents.stalled; nth++) void stalledAgent(slots, mayYield);
  const done = Promise.all(Array.from({ length: agents.healthy }, () => healthyAgent(slots)));
  const duration = done.then(() => Date.now() - startedAt);
  await vi.advanceTimersByTimeAsync(2_000_000);
  return duration;
}

it.each([
  { stalled: 2, healthy: 3, withMs: 50_000, withoutMs: 50_000 },
  { stalled: 4, healthy: 3, withMs: 97_000, withoutMs: 506_000 },
  { stalled: 4, healthy: 8, withMs: 115_000, withoutMs: 510_000 },
  { stalled: 8, healthy: 4, withMs: 144_000, withoutMs: 978_000 },
])(
  "$healthy healthy agents in a team with $stalled stalled agents are done after $withMs ms, and after $withoutMs ms if no slot yields",
  async ({ withMs, withoutMs, ...agents }) => {
    expect(Math.round((await lastDoneMs(agents, true)) / 1_000)).toBe(withMs / 1_000);
    expect(Math.round((await lastDoneMs(agents, false)) / 1_000)).toBe(withoutMs / 1_000);
  },
);
