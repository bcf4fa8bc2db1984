import { afterEach, describe, expect, it, vi } from "vitest";
import { Mutex, MutexLease } from "../../src/async/mutex";

describe("a mutex", () => {
  it("admits one holder at a time, in order", async () => {
    const mutex = new Mutex();
    const order: number[] = [];
    const releases = [1, 2, 3].map(async (holder) => {
      const release = await mutex.acquire();
      order.push(holder);
      return release;
    });
    const releaseFirst = await releases[0];
    expect(order).toEqual([1]);
    releaseFirst?.();
    releaseFirst?.(); // the second call does not admit holder 3
    await releases[1];
    expect(order).toEqual([1, 2]);
  });
});

describe("a lease of a mutex", () => {
  afterEach(() => void vi.useRealTimers());

  it("is released after its maximum time if the end of the work is not reported", async () => {
    vi.useFakeTimers();
    const mutex = new Mutex();
    const first = new MutexLease(mutex);
    await first.acquire();
    const endCallbacks: (() => void)[] = [];
    first.releaseOnEnd((onEnd) => void endCallbacks.push(onEnd), 1_000);
    const second = new MutexLease(mutex);
    void second.acquire();
    await vi.advanceTimersByTimeAsync(999);
    expect([second.isHeld, endCallbacks.length]).toEqual([false, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(second.isHeld).toBe(true);
    endCallbacks[0]?.(); // the end of the work is reported too late and has no effect
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
  });

  it("does not block the next holder if it is released while it waits for the lock", async () => {
    const mutex = new Mutex();
    const release = await mutex.acquire();
    const waiting = new MutexLease(mutex);
    const acquired = waiting.acquire();
    waiting.release();
    release();
    await acquired;
    expect(waiting.isHeld).toBe(false);
    expect(await mutex.acquire()).toBeTypeOf("function");
  });

  it("has no timer after the end of the work is reported", async () => {
    vi.useFakeTimers();
    const lease = new MutexLease(new Mutex());
    await lease.acquire();
    lease.releaseOnEnd((onEnd) => onEnd(), 1_000);
    expect([lease.isHeld, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
