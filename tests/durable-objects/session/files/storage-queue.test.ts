import { describe, expect, it } from "vitest";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";

describe("the R2 queue", () => {
  it("runs one request at a time, in order", async () => {
    const turns = new StorageQueue();
    let open = 0;
    const seen: string[] = [];
    const ask = (name: string) =>
      turns.take(async () => {
        open += 1;
        seen.push(`${name} of ${open}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        open -= 1;
      });
    await Promise.all([ask("first"), ask("second"), ask("third")]);
    expect(seen).toEqual(["first of 1", "second of 1", "third of 1"]);
  });

  it("runs the next request after a failure and after a timeout", async () => {
    const turns = new StorageQueue(20);
    const asked = [
      turns.take(() => Promise.reject(new Error("away"))),
      turns.take(() => new Promise<never>(() => undefined)),
      turns.take(async () => "there"),
    ];
    const [failed, late, answered] = await Promise.allSettled(asked);
    expect(failed).toMatchObject({ reason: { message: "away" } });
    expect(late).toMatchObject({ reason: { message: "R2 did not answer within 0.02 s." } });
    expect(answered).toMatchObject({ value: "there" });
  });

  it("waits without limit for a request that must not take effect later", async () => {
    const turns = new StorageQueue(5);
    const slow = new Promise<string>((resolve) => setTimeout(() => resolve("erased"), 40));
    expect(await turns.takeAll(() => slow)).toBe("erased");
  });

  it("accepts nothing once closed, and closing waits for abandoned requests", async () => {
    const turns = new StorageQueue(5);
    const slow = Promise.withResolvers<void>();
    await expect(turns.take(() => slow.promise)).rejects.toThrow("R2 did not answer");
    let isClosed = false;
    const closed = turns.close().then(() => {
      isClosed = true;
    });
    await expect(turns.take(async () => 1)).rejects.toThrow("closed");
    expect(isClosed).toBe(false);
    slow.resolve();
    await closed;
  });
});
