import { describe, expect, it } from "vitest";
import { abortable, linkedAbort } from "../../src/async/abort";

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
