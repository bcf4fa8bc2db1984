import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Semaphore } from "../../src/async/semaphore";

const MAX_HOLD_MS = 45_000;
const never = new AbortController().signal;
const nextTick = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("a semaphore", () => {
  it("grants its permits and makes the other waiters wait in order", async () => {
    const semaphore = new Semaphore(2, MAX_HOLD_MS);
    const granted: number[] = [];
    const takes = [1, 2, 3, 4].map(async (waiter) => {
      const release = await semaphore.acquire(never, () => undefined);
      granted.push(waiter);
      return release;
    });
    await nextTick();
    expect(granted).toEqual([1, 2]);
    (await takes[1])?.();
    await nextTick();
    expect(granted).toEqual([1, 2, 3]);
    (await takes[0])?.();
    await nextTick();
    expect(granted).toEqual([1, 2, 3, 4]);
  });

  it("frees one permit if the permit is released twice", async () => {
    const semaphore = new Semaphore(1, MAX_HOLD_MS);
    const release = await semaphore.acquire(never, null);
    release();
    release();
    await semaphore.acquire(never, null);
    const third = semaphore.acquire(never, null).then(() => "granted");
    expect(await Promise.race([third, nextTick().then(() => "waiting")])).toBe("waiting");
  });

  it("removes only the aborted waiter from its queue", async () => {
    const semaphore = new Semaphore(1, MAX_HOLD_MS);
    const release = await semaphore.acquire(never, null);
    const user = new AbortController();
    const aborted = semaphore.acquire(user.signal, null);
    const next = semaphore.acquire(never, null);
    user.abort(new Error("cancelled"));
    await expect(aborted).rejects.toThrow("cancelled");
    release();
    expect(await next).toBeTypeOf("function");
  });

  it("throws at once if the signal is already aborted", async () => {
    await expect(
      new Semaphore(1, MAX_HOLD_MS).acquire(AbortSignal.abort(new Error("gone")), null),
    ).rejects.toThrow("gone");
  });
});

describe("a holder that has had its permit for the maximum time", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  /**
   * A semaphore whose holders release their permit when they are asked to yield. `seen`: who got a
   * permit and who was asked. `unyielding`: the request has no `onYield`.
   */
  function start(size: number) {
    const semaphore = new Semaphore(size, MAX_HOLD_MS);
    const seen: string[] = [];
    const releases = new Map<string, () => void>();
    const take = async (name: string, { unyielding = false, signal = never } = {}) => {
      const onYield = () => {
        seen.push(`${name} gives way`);
        releases.get(name)?.();
      };
      void semaphore.acquire(signal, unyielding ? null : onYield).then(
        (release) => {
          seen.push(name);
          releases.set(name, release);
        },
        () => undefined,
      );
      await vi.advanceTimersByTimeAsync(0);
    };
    const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
    const release = async (...names: string[]) => {
      for (const name of names) releases.get(name)?.();
      await wait(0);
    };
    return { seen, take, wait, release };
  }

  it("keeps its permit while there are no waiters", async () => {
    const { seen, take, wait, release } = start(1);
    await take("a");
    await wait(10 * MAX_HOLD_MS);
    expect(seen).toEqual(["a"]);
    await release("a");
  });

  it("yields at the maximum time, not earlier", async () => {
    const { seen, take, wait, release } = start(1);
    await take("a");
    await take("b");
    await wait(MAX_HOLD_MS - 1);
    expect(seen).toEqual(["a"]);
    await wait(1);
    expect(seen).toEqual(["a", "a gives way", "b"]);
    await release("b");
  });

  it("yields at the maximum time although the wall clock is set back", async () => {
    const { seen, take, wait, release } = start(1);
    await take("a");
    vi.setSystemTime(Date.now() - 3_600_000);
    await take("b");
    await wait(MAX_HOLD_MS);
    expect(seen).toEqual(["a", "a gives way", "b"]);
    await release("b");
  });

  it("has no timer while there are no waiters", async () => {
    const { take, release } = start(1);
    await take("a");
    expect(vi.getTimerCount()).toBe(0);
    await take("b");
    expect(vi.getTimerCount()).toBe(1);
    await release("a", "b");
  });

  it("yields at once if a waiter comes later", async () => {
    const { seen, take, wait, release } = start(1);
    await take("a");
    await wait(2 * MAX_HOLD_MS);
    await take("b");
    expect(seen).toEqual(["a", "a gives way", "b"]);
    await release("b");
  });

  it("is one of as many asked holders as there are waiters, and the oldest is asked first", async () => {
    const { seen, take, wait, release } = start(3);
    await take("a");
    await wait(1_000);
    await take("b");
    await take("c");
    await take("d");
    await take("e");
    await wait(MAX_HOLD_MS);
    expect(seen).toEqual(["a", "b", "c", "a gives way", "d", "b gives way", "e"]);
    await release("c", "d", "e");
  });

  it("is asked only once, even if it yields late", async () => {
    const asked: string[] = [];
    const semaphore = new Semaphore(1, MAX_HOLD_MS);
    const release = await semaphore.acquire(never, () => void asked.push("a"));
    const b = semaphore.acquire(never, null);
    await vi.advanceTimersByTimeAsync(3 * MAX_HOLD_MS);
    expect(asked).toEqual([]); // no holder is asked for a waiter without `onYield`
    const user = new AbortController();
    const c = semaphore.acquire(user.signal, () => undefined);
    const d = semaphore.acquire(user.signal, () => undefined);
    await vi.advanceTimersByTimeAsync(3 * MAX_HOLD_MS);
    expect(asked).toEqual(["a"]);
    user.abort(new Error("cancelled"));
    await Promise.allSettled([c, d]);
    release();
    (await b)();
  });

  it("is not asked if it has no `onYield`, and no holder is asked for a waiter without it", async () => {
    const { seen, take, wait, release } = start(1);
    await take("a", { unyielding: true });
    await take("b");
    await wait(3 * MAX_HOLD_MS);
    expect(seen).toEqual(["a"]);
    await release("a");
    await take("c", { unyielding: true });
    await wait(3 * MAX_HOLD_MS);
    expect(seen).toEqual(["a", "b"]);
    await release("b");
    await release("c");
  });

  it("leaves one permit to requests with `onYield` if it has none, and those go first", async () => {
    const { seen, take, release } = start(2);
    await take("a", { unyielding: true });
    await take("b", { unyielding: true });
    await take("c");
    expect(seen).toEqual(["a", "c"]);
    await take("d");
    await release("c");
    expect(seen).toEqual(["a", "c", "d"]);
    await release("d");
    expect(seen).toEqual(["a", "c", "d"]);
    await release("a");
    expect(seen).toEqual(["a", "c", "d", "b"]);
    await release("b");
  });
});
