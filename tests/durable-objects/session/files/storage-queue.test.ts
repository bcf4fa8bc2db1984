import { describe, expect, it } from "vitest";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";

describe("the storage queue", () => {
  it("runs one operation at a time, in order", async () => {
    const queue = new StorageQueue();
    let inProgress = 0;
    const seen: string[] = [];
    const run = (name: string) =>
      queue.take(async () => {
        inProgress += 1;
        seen.push(`${name} of ${inProgress}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inProgress -= 1;
      });
    await Promise.all([run("first"), run("second"), run("third")]);
    expect(seen).toEqual(["first of 1", "second of 1", "third of 1"]);
  });

  it("runs the next operation after a failure and after a timeout", async () => {
    const queue = new StorageQueue(20);
    const operations = [
      queue.take(() => Promise.reject(new Error("away"))),
      queue.take(() => new Promise<never>(() => undefined)),
      queue.take(async () => "there"),
    ];
    const [failed, timedOut, succeeded] = await Promise.allSettled(operations);
    expect(failed).toMatchObject({ reason: { message: "away" } });
    expect(timedOut).toMatchObject({ reason: { message: "R2 did not answer within 0.02 s." } });
    expect(succeeded).toMatchObject({ value: "there" });
  });

  it("waits without a time limit for an operation that must not take effect later", async () => {
    const queue = new StorageQueue(5);
    const slow = new Promise<string>((resolve) => setTimeout(() => resolve("erased"), 40));
    expect(await queue.takeAll(() => slow)).toBe("erased");
  });

  it("runs no operation after `close`, which waits for operations that timed out", async () => {
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
