import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sleep } from "../../src/async/sleep";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

it("resolves after its time", async () => {
  let isOver = false;
  const sleeping = sleep(100, new AbortController().signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(99);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await sleeping;
});

it("throws the reason of an abort at once", async () => {
  const user = new AbortController();
  const sleeping = sleep(100, user.signal);
  user.abort(new Error("cancelled"));
  await expect(sleeping).rejects.toThrow("cancelled");
});

it("starts no timer if the signal is already aborted", async () => {
  const aborted = AbortSignal.abort(new Error("gone"));
  await expect(sleep(100, aborted)).rejects.toThrow("gone");
});
