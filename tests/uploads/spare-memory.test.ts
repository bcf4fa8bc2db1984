import { expect, it } from "vitest";
import { MEMORY_LIMITS, MemoryBudget } from "../../src/uploads/memory-budget";
import { spareMemoryOf } from "../../src/uploads/spare-memory";

const share = MEMORY_LIMITS.bytes / 2;

it("spare memory is given while it is free, and released afterwards", async () => {
  const spare = spareMemoryOf(new MemoryBudget());
  const nested = await spare("a", share, async (mayContinue) => {
    expect(mayContinue()).toBe(true);
    return [await spare("a", 1, async () => "second"), await spare("b", 1, async () => "other")];
  });
  expect(nested).toEqual([null, "other"]);
  expect(await spare("a", share, async () => "again")).toBe("again");
});

it("spare memory is released after an error", async () => {
  const spare = spareMemoryOf(new MemoryBudget());
  await expect(spare("a", share, () => Promise.reject(new Error("failed")))).rejects.toThrow();
  expect(await spare("a", share, async () => "again")).toBe("again");
});

it("work without memory leaves no request in the queue that others would wait for", async () => {
  const memory = new MemoryBudget();
  const spare = spareMemoryOf(memory);
  await spare("a", share, () => spare("a", 1, async () => "not run"));
  const upload = memory.enqueue("a", 1, Date.now());
  expect(upload && memory.tryStart(upload, Date.now())).toBe(true);
});
