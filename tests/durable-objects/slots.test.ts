import { describe, expect, it } from "vitest";
import { Slots } from "../../durable-objects/slots";

const never = new AbortController().signal;
const soon = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("slots", () => {
  it("grants as many as there are and makes the rest wait in order", async () => {
    const slots = new Slots(2);
    const granted: number[] = [];
    const takes = [1, 2, 3, 4].map(async (nth) => {
      const release = await slots.take(never);
      granted.push(nth);
      return release;
    });
    await soon();
    expect(granted).toEqual([1, 2]);
    (await takes[1])?.();
    await soon();
    expect(granted).toEqual([1, 2, 3]);
    (await takes[0])?.();
    await soon();
    expect(granted).toEqual([1, 2, 3, 4]);
  });

  it("counts a slot given back twice once", async () => {
    const slots = new Slots(1);
    const release = await slots.take(never);
    release();
    release();
    await slots.take(never);
    const third = slots.take(never).then(() => "granted");
    expect(await Promise.race([third, soon().then(() => "waiting")])).toBe("waiting");
  });

  it("lets go of a place in the queue when aborted, and of nothing else", async () => {
    const slots = new Slots(1);
    const release = await slots.take(never);
    const user = new AbortController();
    const aborted = slots.take(user.signal);
    const next = slots.take(never);
    user.abort(new Error("cancelled"));
    await expect(aborted).rejects.toThrow("cancelled");
    release();
    expect(await next).toBeTypeOf("function");
  });

  it("refuses at once what is already aborted", async () => {
    await expect(new Slots(1).take(AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });
});
