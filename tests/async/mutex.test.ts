import { afterEach, describe, expect, it, vi } from "vitest";
import { Mutex, MutexLease } from "../../src/async/mutex";

describe("a mutex", () => {
  it("admits one holder at a time, in order", async () => {
    const mutex = new Mutex();
    const order: number[] = [];
    const holders = [1, 2, 3].map(async (nth) => {
      const release = await mutex.acquire();
      order.push(nth);
      return release;
    });
    const first = await holders[0];
    expect(order).toEqual([1]);
    first?.();
    first?.(); // a second release admits no other waiter
    await holders[1];
    expect(order).toEqual([1, 2]);
  });
});

describe("a lease", () => {
  afterEach(() => void vi.useRealTimers());

  it("ends after its longest time, also if the end is not reported", async () => {
    vi.useFakeTimers();
    const mutex = new Mutex();
    const first = new MutexLease(mutex);
    await first.acquire();
    const releases: (() => void)[] = [];
    first.releaseWhen((release) => void releases.push(release), 1_000);
    const second = new MutexLease(mutex);
    let isIn = false;
    void second.acquire().then(() => {
      isIn = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect([isIn, releases.length]).toEqual([false, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(isIn).toBe(true);
    releases[0]?.(); // too late, without effect
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
  });

  it("that is released while it waits admits the next one", async () => {
    const mutex = new Mutex();
    const release = await mutex.acquire();
    const left = new MutexLease(mutex);
    const entered = left.acquire();
    left.release();
    release();
    await entered;
    expect(left.isHeld).toBe(false);
    expect(await mutex.acquire()).toBeTypeOf("function");
  });

  it("leaves no timer behind", async () => {
    vi.useFakeTimers();
    const lease = new MutexLease(new Mutex());
    await lease.acquire();
    lease.releaseWhen((release) => release(), 1_000);
    expect([lease.isHeld, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
