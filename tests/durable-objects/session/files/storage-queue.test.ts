import { describe, expect, it } from "vitest";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";
import {
  STORAGE_CONNECTIONS,
  TOOL_SERVERS,
} from "../../../../durable-objects/shared/object-limits";

describe("the storage queue", () => {
  /** Operations that record their names and how many run, and end after 2 ms. */
  const recorded = () => {
    let inProgress = 0;
    const seen: string[] = [];
    const operation = (name: string) => async () => {
      inProgress += 1;
      seen.push(`${name} of ${inProgress}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inProgress -= 1;
    };
    return { seen, operation };
  };

  it("runs as many operations at a time as the session has connections for, in order", async () => {
    const queue = new StorageQueue();
    const { seen, operation } = recorded();
    const names = Array.from({ length: STORAGE_CONNECTIONS + 2 }, (_, nth) => `${nth + 1}`);
    await Promise.all(names.map((name) => queue.take(operation(name))));
    const counts = names.map((name, nth) => `${name} of ${Math.min(nth + 1, STORAGE_CONNECTIONS)}`);
    expect(seen).toEqual(counts);
  });

  it("leaves connections for listings of tool servers and for other writes", () => {
    expect(STORAGE_CONNECTIONS + TOOL_SERVERS.own + 1).toBeLessThanOrEqual(6);
  });

  it("runs an erasure alone, and keeps the order", async () => {
    const queue = new StorageQueue();
    const { seen, operation } = recorded();
    await Promise.all([
      queue.take(operation("first")),
      queue.take(operation("second")),
      queue.takeAlone(operation("erasure")),
      queue.take(operation("third")),
    ]);
    expect(seen).toEqual(["first of 1", "second of 2", "erasure of 1", "third of 1"]);
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
    expect(await queue.takeAlone(() => slow)).toBe("erased");
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
