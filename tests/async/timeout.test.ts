import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { withTimeout } from "../../src/async/timeout";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const timeoutError = () => new Error("too late");

it("returns the result of work that ends in time", async () => {
  expect(await withTimeout(100, async () => "done", timeoutError)).toBe("done");
});

it("throws the error of work that fails in time", async () => {
  const work = () => Promise.reject(new Error("failed"));
  await expect(withTimeout(100, work, timeoutError)).rejects.toThrow("failed");
});

it("throws its own error at the timeout, not earlier", async () => {
  const seen: unknown[] = [];
  const timed = withTimeout(100, () => new Promise<never>(() => undefined), timeoutError);
  const ended = timed.catch((error: unknown) => seen.push(error));
  await vi.advanceTimersByTimeAsync(99);
  expect(seen).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await ended;
  expect(seen).toEqual([timeoutError()]);
});
