import { describe, expect, it } from "vitest";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";

describe("the R2 queue", () => {
  it("runs one request at a time, in order", async () => {
    const queue = new StorageQueue();
    let open = 0;
    const seen: string[] = [];
    const ask = (name: string) =>
      queue.take(async () => {
        open += 1;
        seen.push(`${name} of ${open}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        open -= 1;
      });
    await Promise.all([ask("first"), ask("second"), ask("third")]);
    expect(seen).toEqual(["first of 1", "second of 1", "third of 1"]);
  });

  it("runs the next request after a failure and after a timeout", async () => {
    const queue = new StorageQueue(20);
    const asked = [
      queue.take(() => Promise.reject(new Error("away"))),
      queue.take(() => new Promise<never>(() => undefined)),
      queue.take(async () => "there"),
    ];
    const [failed, late, answered] = await Promise.allSettled(asked);
    expect(failed).toMatchObject({ reason: { message: "away" } });
    expect(late).toMatchObject({ reason: { message: "R2 did not answer within 0.02 s." } });
    expect(answered).toMatchObject({ value: "there" });
  });

  it("waits without limit for a request that must not take effect later", async () => {
    const queue = new StorageQueue(5);
    const slow = new Promise<string>((resolve) => setTimeout(() => resolve("erased"), 40));
    expect(await queue.takeAll(() => slow)).toBe("erased");
  });

  it("accepts nothing once closed, and closing waits for abandoned requests", async () => {
    const queue = new StorageQueue(5);
    const slow = Promise.withResolvers<void>();
    await expect(queue.take(() => slow.promise)).rejects.toThrow("R2 did not answer");
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    await expect(queue.take(async () => 1)).rejects.toThrow("closed");
    expect(isClosed).toBe(false);
    slow.resolve();
    await closed;
  });
});
