import { describe, expect, it } from "vitest";
import { SharedWork } from "../../src/async/shared-work";

/** Shared work that a test ends, with the signal of the work and its ends so far. */
function begin() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const ends: boolean[] = [];
  let seen: AbortSignal | null = null;
  const work = new SharedWork(
    (signal) => {
      seen = signal;
      return promise;
    },
    (hasResult) => ends.push(hasResult),
  );
  return { work, resolve, reject, ends, isAborted: () => seen?.aborted ?? false };
}
const never = (): AbortSignal => new AbortController().signal;

describe("shared work", () => {
  it("has one result for all callers, also for later ones", async () => {
    const { work, resolve, ends, isAborted } = begin();
    const both = Promise.all([work.join(never()), work.join(never())]);
    resolve("done");
    expect(await both).toEqual(["done", "done"]);
    expect(await work.join(never())).toBe("done");
    expect(ends).toEqual([true]);
    expect(isAborted()).toBe(false);
  });

  it("throws its error to all callers", async () => {
    const { work, reject, ends, isAborted } = begin();
    const both = Promise.allSettled([work.join(never()), work.join(never())]);
    reject(new Error("no"));
    expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(ends).toEqual([false]);
    expect(isAborted()).toBe(false);
  });

  it("continues after the abort of one of its callers", async () => {
    const { work, resolve, ends, isAborted } = begin();
    const user = new AbortController();
    const first = work.join(user.signal);
    const second = work.join(never());
    user.abort(new Error("left"));
    await expect(first).rejects.toThrow("left");
    expect(isAborted()).toBe(false);
    resolve("done");
    expect(await second).toBe("done");
    expect(ends).toEqual([true]);
  });

  it("is aborted with its last caller, and ends only once", async () => {
    const { work, resolve, ends, isAborted } = begin();
    const user = new AbortController();
    const callers = [work.join(user.signal), work.join(user.signal)];
    user.abort(new Error("left"));
    for (const caller of callers) await expect(caller).rejects.toThrow("left");
    expect(isAborted()).toBe(true);
    resolve("too late");
    await Promise.resolve();
    expect(ends).toEqual([false]);
  });

  it("does not report an error that follows its abort", async () => {
    const { work, reject, isAborted } = begin();
    await expect(work.join(AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
    expect(isAborted()).toBe(true);
    reject(new Error("no"));
  });
});
