import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withMemory } from "../../../src/api/contexts/upload-admission";
import { MemoryBudget } from "../../../src/uploads/memory-budget";

/** The half of the memory that one tenant may use. */
const BYTES = 40_000_000;
const never = new AbortController().signal;
const hangs = () => new Promise<never>(() => undefined);
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("an upload that finds no free memory", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("starts when another has ended or failed", async () => {
    const memory = new MemoryBudget();
    const fails = Promise.withResolvers<never>();
    const first = failure(
      withMemory(memory, { tenant: "a", bytes: BYTES, signal: never }, () => fails.promise),
    );
    const second = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: never },
      async () => "done",
    );
    await vi.advanceTimersByTimeAsync(10_000);
    fails.reject(new Error("broken"));
    await vi.advanceTimersByTimeAsync(200);
    expect([await first, await second]).toEqual([new Error("broken"), "done"]);
  });

  it("is asked to retry after 20 seconds, and leaves the queue", async () => {
    const memory = new MemoryBudget();
    const holder = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: never },
      async ({ report }) => {
        for (let at = 0; at < 30; at += 1) {
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          report();
        }
        return "held";
      },
    );
    const late = failure(withMemory(memory, { tenant: "a", bytes: 1, signal: never }, hangs));
    await vi.advanceTimersByTimeAsync(19_900);
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: never },
      async () => "next",
    );
    await vi.advanceTimersByTimeAsync(200);
    expect(await late).toMatchObject({
      code: "uploads_busy",
      more: { headers: { "retry-after": "5" } },
    });
    await vi.advanceTimersByTimeAsync(11_000);
    expect([await holder, await next]).toEqual(["held", "next"]);
  });

  it("is refused at once if 16 of its tenant wait; that of another tenant is accepted (M8)", async () => {
    const memory = new MemoryBudget();
    const all = Array.from({ length: 17 }, () =>
      failure(withMemory(memory, { tenant: "a", bytes: BYTES, signal: never }, hangs)),
    );
    await expect(
      withMemory(memory, { tenant: "a", bytes: 1, signal: never }, hangs),
    ).rejects.toMatchObject({ code: "uploads_busy" });
    expect(
      await withMemory(
        memory,
        { tenant: "b", bytes: BYTES, signal: never },
        async () => "taken in",
      ),
    ).toBe("taken in");
    await vi.advanceTimersByTimeAsync(21_000);
    expect((await Promise.all(all.slice(1))).map((error) => Object(error).code)).toEqual(
      Array(16).fill("uploads_busy"),
    );
  });

  it("is asked to retry if it needs more than its half and another tenant needs that memory (M8)", async () => {
    const memory = new MemoryBudget();
    const grown = failure(
      withMemory(memory, { tenant: "a", bytes: 1, signal: never }, async ({ holds }) => {
        await holds(70_000_000);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await holds(71_000_000);
      }),
    );
    await vi.advanceTimersByTimeAsync(100);
    const other = withMemory(
      memory,
      { tenant: "b", bytes: BYTES, signal: never },
      async () => "taken in",
    );
    await vi.advanceTimersByTimeAsync(7_000);
    expect([await grown, await other]).toMatchObject([{ code: "uploads_busy" }, "taken in"]);
  });

  it("stops when its client sends nothing for more than ten seconds, and another then starts (M8)", async () => {
    const memory = new MemoryBudget();
    const wakes = Promise.withResolvers<void>();
    const slow = failure(
      withMemory(
        memory,
        { tenant: "a", bytes: BYTES, signal: never },
        async ({ onWait, onBytes }) => {
          onWait();
          await wakes.promise;
          onBytes(1_000);
        },
      ),
    );
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: never },
      async () => "next",
    );
    await vi.advanceTimersByTimeAsync(10_200);
    expect(await next).toBe("next");
    wakes.resolve();
    expect(await slow).toMatchObject({ code: "upload_broken" });
  });

  it("stops waiting once its client has disconnected", async () => {
    const memory = new MemoryBudget();
    void withMemory(memory, { tenant: "a", bytes: BYTES, signal: never }, hangs);
    const client = new AbortController();
    const waiting = failure(
      withMemory(memory, { tenant: "a", bytes: 1, signal: client.signal }, hangs),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    client.abort();
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toMatchObject({ code: "upload_broken" });
  });

  it("starts once the client of another has disconnected, and that other must stop", async () => {
    const memory = new MemoryBudget();
    const client = new AbortController();
    const wakes = Promise.withResolvers<void>();
    const left = failure(
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
      { tenant: "a", bytes: BYTES, signal: never },
      async () => "next",
    );
    client.abort();
    await vi.advanceTimersByTimeAsync(200);
    wakes.resolve();
    expect([await next, await left]).toMatchObject(["next", { code: "upload_broken" }]);
  });

  it("starts a minute after an upload that sent nothing, and that other must stop", async () => {
    const memory = new MemoryBudget();
    const wakes = Promise.withResolvers<void>();
    const still = failure(
      withMemory(memory, { tenant: "a", bytes: BYTES, signal: never }, async ({ report }) => {
        await wakes.promise;
        report();
      }),
    );
    await vi.advanceTimersByTimeAsync(45_000);
    const next = withMemory(
      memory,
      { tenant: "a", bytes: BYTES, signal: never },
      async () => "next",
    );
    await vi.advanceTimersByTimeAsync(16_000);
    wakes.resolve();
    expect([await next, await still]).toMatchObject(["next", { code: "upload_broken" }]);
  });
});
