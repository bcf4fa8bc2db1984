import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withMemory } from "../../../src/api/contexts/upload-admission";
import { MemoryBudget } from "../../../src/uploads/memory-budget";

/** Half of the memory. One tenant may use at most this part. */
const BYTES = 40_000_000;
const NEVER_ABORTED = new AbortController().signal;
const workForever = () => new Promise<never>(() => undefined);
const errorOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("an upload without free memory", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("starts when another upload has failed", async () => {
    const memory = new MemoryBudget();
    const firstWork = Promise.withResolvers<never>();
    const first = errorOf(
      withMemory(
        memory,
        { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
        () => firstWork.promise,
      ),
    );
    const second = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
      async () => "done",
    );
    await vi.advanceTimersByTimeAsync(10_000);
    firstWork.reject(new Error("broken"));
    await vi.advanceTimersByTimeAsync(200);
    expect([await first, await second]).toEqual([new Error("broken"), "done"]);
  });

  it("is refused with a time to retry after 20 seconds, and leaves the queue", async () => {
    const memory = new MemoryBudget();
    const holder = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
      async ({ report }) => {
        for (let second = 0; second < 30; second += 1) {
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          report();
        }
        return "held";
      },
    );
    const queued = errorOf(
      withMemory(memory, { tenant: "a", bytes: 1, signal: NEVER_ABORTED }, workForever),
    );
    await vi.advanceTimersByTimeAsync(19_900);
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
      async () => "next",
    );
    await vi.advanceTimersByTimeAsync(200);
    expect(await queued).toMatchObject({
      code: "uploads_busy",
      more: { headers: { "retry-after": "5" } },
    });
    await vi.advanceTimersByTimeAsync(11_000);
    expect([await holder, await next]).toEqual(["held", "next"]);
  });

  it("is refused at once if 16 uploads of its tenant wait; another tenant's upload starts (M8)", async () => {
    const memory = new MemoryBudget();
    const all = Array.from({ length: 17 }, () =>
      errorOf(
        withMemory(memory, { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED }, workForever),
      ),
    );
    await expect(
      withMemory(memory, { tenant: "a", bytes: 1, signal: NEVER_ABORTED }, workForever),
    ).rejects.toMatchObject({ code: "uploads_busy" });
    expect(
      await withMemory(
        memory,
        { tenant: "b", bytes: BYTES, signal: NEVER_ABORTED },
        async () => "taken in",
      ),
    ).toBe("taken in");
    await vi.advanceTimersByTimeAsync(21_000);
    expect((await Promise.all(all.slice(1))).map((error) => Object(error).code)).toEqual(
      Array(16).fill("uploads_busy"),
    );
  });

  it("is refused if it needs more than its tenant's half while another tenant waits (M8)", async () => {
    const memory = new MemoryBudget();
    const grown = errorOf(
      withMemory(
        memory,
        { tenant: "a", bytes: 1, signal: NEVER_ABORTED },
        async ({ requireMemory }) => {
          await requireMemory(70_000_000);
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          await requireMemory(71_000_000);
        },
      ),
    );
    await vi.advanceTimersByTimeAsync(100);
    const other = withMemory(
      memory,
      { tenant: "b", bytes: BYTES, signal: NEVER_ABORTED },
      async () => "taken in",
    );
    await vi.advanceTimersByTimeAsync(7_000);
    expect([await grown, await other]).toMatchObject([{ code: "uploads_busy" }, "taken in"]);
  });

  it("starts if the client of another upload sends nothing for more than ten seconds; that upload stops (M8)", async () => {
    const memory = new MemoryBudget();
    const wakes = Promise.withResolvers<void>();
    const slow = errorOf(
      withMemory(
        memory,
        { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
        async ({ onWait, onBytes }) => {
          onWait();
          await wakes.promise;
          onBytes(1_000);
        },
      ),
    );
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
      async () => "next",
    );
    await vi.advanceTimersByTimeAsync(10_200);
    expect(await next).toBe("next");
    wakes.resolve();
    expect(await slow).toMatchObject({ code: "upload_broken" });
  });

  it("stops waiting when its client disconnects", async () => {
    const memory = new MemoryBudget();
    void withMemory(memory, { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED }, workForever);
    const client = new AbortController();
    const waiting = errorOf(
      withMemory(memory, { tenant: "a", bytes: 1, signal: client.signal }, workForever),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    client.abort();
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toMatchObject({ code: "upload_broken" });
  });

  it("starts when the client of another upload disconnects; that upload must stop", async () => {
    const memory = new MemoryBudget();
    const client = new AbortController();
    const wakes = Promise.withResolvers<void>();
    const disconnected = errorOf(
      withMemory(
        memory,
        { tenant: "a", bytes: BYTES, signal: client.signal },
        async ({ report }) => {
          await wakes.promise;
          report();
        },
      ),
    );
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
      async () => "next",
    );
    client.abort();
    await vi.advanceTimersByTimeAsync(200);
    wakes.resolve();
    expect([await next, await disconnected]).toMatchObject(["next", { code: "upload_broken" }]);
  });

  it("starts if another upload reports no progress for a minute; that upload must stop", async () => {
    const memory = new MemoryBudget();
    const wakes = Promise.withResolvers<void>();
    const silent = errorOf(
      withMemory(
        memory,
        { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
        async ({ report }) => {
          await wakes.promise;
          report();
        },
      ),
    );
    await vi.advanceTimersByTimeAsync(45_000);
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: NEVER_ABORTED },
      async () => "next",
    );
    await vi.advanceTimersByTimeAsync(16_000);
    wakes.resolve();
    expect([await next, await silent]).toMatchObject(["next", { code: "upload_broken" }]);
  });
});
