import { describe, expect, it } from "vitest";
import { sendAll } from "../../client/send-all";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const limits = { requests: 3, bytes: 10, sizeOf: (size: number) => size };

/** Sends items of these sizes. Returns the sizes that were in progress at each start. */
async function sizesInProgress(sizes: readonly number[]): Promise<number[][]> {
  const running: number[] = [];
  const seen: number[][] = [];
  await sendAll(sizes, limits, async (size) => {
    running.push(size);
    seen.push([...running]);
    await pause(2);
    running.splice(running.indexOf(size), 1);
  });
  return seen;
}

describe("items to send", () => {
  it.each([
    { name: "are sent together up to a number", sizes: [1, 2, 3, 4], most: [1, 2, 3] },
    { name: "are sent together up to a size", sizes: [6, 4, 5], most: [6, 4] },
    { name: "are sent alone if they are larger than the limit", sizes: [11, 1], most: [11] },
  ])("$name", async ({ sizes, most }) => {
    const seen = await sizesInProgress(sizes);
    expect(seen).toHaveLength(sizes.length);
    expect(seen).toContainEqual(most);
    for (const together of seen) {
      expect(together.length).toBeLessThanOrEqual(limits.requests);
      const bytes = together.reduce((sum, size) => sum + size, 0);
      expect(together.length === 1 || bytes <= limits.bytes).toBe(true);
    }
  });

  it("are stopped after the first failure, and nothing is sent afterwards", async () => {
    const started: number[] = [];
    const stopped: number[] = [];
    const send = async (size: number, stop: AbortSignal) => {
      started.push(size);
      stop.addEventListener("abort", () => stopped.push(size));
      await pause(size === 2 ? 1 : 20);
      if (size === 2) throw new Error("refused");
    };
    await expect(sendAll([1, 2, 3, 4, 5], limits, send)).rejects.toThrow("refused");
    expect([started, stopped]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });
});
