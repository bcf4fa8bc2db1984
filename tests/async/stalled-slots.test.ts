import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HEADER_LIMIT_MS, CALL_SLOTS } from "../../durable-objects/shared/object-limits";
import { sleep } from "../../src/async/sleep";
import { Semaphore } from "../../src/async/semaphore";
import { LIMITS } from "../../src/coordination/limits";
import { CALL_TIME_LIMITS } from "../../src/providers/call-limits";

/** The effect of slots that yield; decision 0087 quotes these figures. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HEADERS_MS = 2_000;
const REPLY_MS = 10_000;
const PAUSE_MS = 2_000;
const CALLS = 4;
const never = new AbortController().signal;
const keeps = () => undefined;

/** An agent whose provider sends no headers. Its first try of a call may give way. */
async function stalledAgent(slots: Semaphore, mayYield: boolean): Promise<void> {
  for (let nth = 0; nth < LIMITS.triesPerCall; nth++) {
    const way = Promise.withResolvers<void>();
    const onYield = nth === 0 ? () => way.resolve() : null;
    const release = await slots.acquire(never, mayYield ? onYield : keeps);
    await Promise.race([way.promise, sleep(CALL_TIME_LIMITS.firstByteMs)]);
    release();
    await sleep(PAUSE_MS * 2 ** nth);
  }
}

/** An agent with four calls. A slot is held until the headers have come. */
async function healthyAgent(slots: Semaphore): Promise<void> {
  for (let nth = 0; nth < CALLS; nth++) {
    const release = await slots.acquire(never, keeps);
    await sleep(HEADERS_MS);
    release();
    await sleep(REPLY_MS);
  }
}

/** When the last of the healthy agents is done, in ms. */
async function lastDoneMs(agents: { stalled: number; healthy: number }, mayYield: boolean) {
  const slots = new Semaphore(CALL_SLOTS, mayYield ? HEADER_LIMIT_MS : 2 ** 31 - 1);
  const began = Date.now();
  for (let nth = 0; nth < agents.stalled; nth++) void stalledAgent(slots, mayYield);
  const done = Promise.all(Array.from({ length: agents.healthy }, () => healthyAgent(slots)));
  const ended = done.then(() => Date.now() - began);
  await vi.advanceTimersByTimeAsync(2_000_000);
  return ended;
}

it.each([
  { stalled: 2, healthy: 3, withMs: 50_000, withoutMs: 50_000 },
  { stalled: 4, healthy: 3, withMs: 97_000, withoutMs: 506_000 },
  { stalled: 4, healthy: 8, withMs: 115_000, withoutMs: 510_000 },
  { stalled: 8, healthy: 4, withMs: 144_000, withoutMs: 978_000 },
])(
  "$healthy agents beside $stalled stalled ones are done after $withMs ms, and after $withoutMs ms if no slot gives way",
  async ({ withMs, withoutMs, ...agents }) => {
    expect(Math.round((await lastDoneMs(agents, true)) / 1_000)).toBe(withMs / 1_000);
    expect(Math.round((await lastDoneMs(agents, false)) / 1_000)).toBe(withoutMs / 1_000);
  },
);
