import type { MemoryBudget } from "./memory-budget";

/**
 * Runs `work`, which needs `bytes` of memory, if this memory is free now. Otherwise returns `null`
 * at once. `work` must call `mayContinue` before each step, and must end if the result is `false`.
 */
export type SpareMemory = <T>(
  tenant: string,
  bytes: number,
  work: (mayContinue: () => boolean) => Promise<T>,
) => Promise<T | null>;

/** The memory that uploads do not use. */
export const spareMemoryOf =
  (memory: MemoryBudget): SpareMemory =>
  async (tenant, bytes, work) => {
    const reservation = memory.enqueue(tenant, bytes, Date.now());
    if (reservation === null) return null;
    try {
      if (!memory.tryStart(reservation, Date.now())) return null;
      return await work(() => memory.reportProgress(reservation, Date.now()));
    } finally {
      memory.release(reservation);
    }
  };
