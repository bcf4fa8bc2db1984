import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sleep } from "../../src/async/sleep";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

it("resolves after its time", async () => {
  let isOver = false;
  const slept = sleep(100, new AbortController().signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(99);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await slept;
});

it("throws the reason of an abort at once", async () => {
  const user = new AbortController();
  const slept = sleep(100, user.signal);
  user.abort(new Error("cancelled"));
  await expect(slept).rejects.toThrow("cancelled");
});

it("does not start with an aborted signal", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(sleep(100, gone)).rejects.toThrow("gone");
});
