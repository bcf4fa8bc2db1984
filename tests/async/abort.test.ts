import { describe, expect, it } from "vitest";
import { abortable, linkedAbort } from "../../src/async/abort";

const forever = () => new Promise<never>(() => undefined);

/** A signal that counts its listeners. */
function counted() {
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
    const { signal, listeners } = counted();
    expect(await abortable(Promise.resolve("done"), signal)).toBe("done");
    expect(listeners()).toBe(0);
  });

  it("throws its error and leaves no listener", async () => {
    const { signal, listeners } = counted();
    const failed = Promise.reject(new Error("failed"));
    await expect(abortable(failed, signal)).rejects.toThrow("failed");
    expect(listeners()).toBe(0);
  });

  it("throws the reason of an abort while it runs", async () => {
    const { user, signal } = counted();
    const waited = abortable(forever(), signal);
    user.abort(new Error("cancelled"));
    await expect(waited).rejects.toThrow("cancelled");
  });

  it("throws the reason of an abort before its start", async () => {
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(abortable(forever(), gone)).rejects.toThrow("gone");
  });
});

describe("a linked abort", () => {
  it("follows its parent, also a parent that is already aborted", () => {
    const { user, signal } = counted();
    const link = linkedAbort(signal);
    user.abort("parent");
    expect([link.signal.reason, linkedAbort(signal).signal.reason]).toEqual(["parent", "parent"]);
  });

  it("aborts without its parent", () => {
    const { signal } = counted();
    const link = linkedAbort(signal);
    link.abort("own");
    expect([link.signal.reason, signal.aborted]).toEqual(["own", false]);
  });

  it("leaves no listener once it is unlinked, and no longer follows its parent", () => {
    const { user, signal, listeners } = counted();
    const link = linkedAbort(signal);
    link.unlink();
    user.abort();
    expect([listeners(), link.signal.aborted]).toEqual([0, false]);
  });
});
