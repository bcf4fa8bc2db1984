import { expect, it } from "vitest";
import { inOrder } from "../../src/async/in-order";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("yields the results in the order of the items, with at most as many works at a time", async () => {
  let [running, most] = [0, 0];
  const work = async (ms: number) => {
    running += 1;
    most = Math.max(most, running);
    await pause(ms);
    running -= 1;
    return ms;
  };
  expect(await Array.fromAsync(inOrder([9, 1, 5, 0, 3], 3, work))).toEqual([9, 1, 5, 0, 3]);
  expect(most).toBe(3);
});

it("throws the first error in the order of the items, after all works have ended", async () => {
  let running = 0;
  const work = async (ms: number) => {
    running += 1;
    await pause(ms);
    running -= 1;
    if (ms !== 9) throw new Error(`failed after ${ms}`);
    return ms;
  };
  const results: number[] = [];
  const readAll = async () => {
    for await (const result of inOrder([9, 5, 1], 3, work)) results.push(result);
  };
  await expect(readAll()).rejects.toThrow("failed after 5");
  expect([results, running]).toEqual([[9], 0]);
});

it("starts no further work after its reader has stopped", async () => {
  const started: number[] = [];
  const work = async (item: number) => void started.push(item);
  for await (const _ of inOrder([1, 2, 3, 4, 5], 2, work)) break;
  expect(started).toEqual([1, 2]);
});
