import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortable, linkedAbort, timeLimit } from "../../src/async/abort";

const neverEnds = () => new Promise<never>(() => undefined);

/** A signal that counts its listeners, and the controller that aborts it. */
function countListeners() {
  const user = new AbortController();
  const { signal } = user;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  let listeners = 0;
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { user, signal, listeners: () => listeners };
}

describe("abortable work", () => {
  it("returns its result and leaves no listener", async () => {
    const { signal, listeners } = countListeners();
    expect(await abortable(Promise.resolve("done"), signal)).toBe("done");
    expect(listeners()).toBe(0);
  });

  it("throws its error and leaves no listener", async () => {
    const { signal, listeners } = countListeners();
    const failed = Promise.reject(new Error("failed"));
    await expect(abortable(failed, signal)).rejects.toThrow("failed");
    expect(listeners()).toBe(0);
  });

  it("throws the reason of an abort while it runs", async () => {
    const { user, signal } = countListeners();
    const result = abortable(neverEnds(), signal);
    user.abort(new Error("cancelled"));
    await expect(result).rejects.toThrow("cancelled");
  });

  it("throws the reason of a signal that is already aborted", async () => {
    const aborted = AbortSignal.abort(new Error("gone"));
    await expect(abortable(neverEnds(), aborted)).rejects.toThrow("gone");
  });
});

describe("a linked abort", () => {
  it("is aborted with its parent, also if the parent is already aborted", () => {
    const { user, signal } = countListeners();
    const link = linkedAbort(signal);
    user.abort("parent");
    expect([link.signal.reason, linkedAbort(signal).signal.reason]).toEqual(["parent", "parent"]);
  });

  it("can be aborted without an effect on its parent", () => {
    const { signal } = countListeners();
    const link = linkedAbort(signal);
    link.abort("own");
    expect([link.signal.reason, signal.aborted]).toEqual(["own", false]);
  });

  it("has no listener on its parent after it is unlinked, and no longer follows the parent", () => {
    const { user, signal, listeners } = countListeners();
    const link = linkedAbort(signal);
    link.unlink();
    user.abort();
    expect([listeners(), link.signal.aborted]).toEqual([0, false]);
  });
});

describe("a time limit", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("aborts its signal with a timeout error, and then has no listener on its parent", () => {
    const { signal: parent, listeners } = countListeners();
    const { signal } = timeLimit(100, [parent]);
    vi.advanceTimersByTime(99);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect([signal.reason.name, listeners()]).toEqual(["TimeoutError", 0]);
  });

  it("aborts its signal with a given reason", () => {
    const { signal } = timeLimit(100, [], () => "too late");
    vi.advanceTimersByTime(100);
    expect(signal.reason).toBe("too late");
  });

  it.each(["first", "second"] as const)("follows its %s parent, and then has no timer", (which) => {
    const parents = { first: countListeners(), second: countListeners() };
    const { signal } = timeLimit(100, [parents.first.signal, parents.second.signal]);
    parents[which].user.abort(which);
    expect(signal.reason).toBe(which);
    expect([parents.first.listeners(), parents.second.listeners()]).toEqual([0, 0]);
  });

  it("is aborted at once if a parent is already aborted", () => {
    expect(timeLimit(100, [AbortSignal.abort("gone")]).signal.reason).toBe("gone");
  });

  it("without its timer still follows its parent", () => {
    const { user, signal: parent } = countListeners();
    const { signal, stopTimer } = timeLimit(100, [parent]);
    stopTimer();
    vi.advanceTimersByTime(100);
    expect(signal.aborted).toBe(false);
    user.abort("parent");
    expect(signal.reason).toBe("parent");
  });

  it("has no timer and no listener after its end, and no longer follows its parent", () => {
    const { user, signal: parent, listeners } = countListeners();
    const { signal, end } = timeLimit(100, [parent]);
    end();
    user.abort();
    expect([listeners(), vi.getTimerCount(), signal.aborted]).toEqual([0, 0, false]);
  });
});
