import { describe, expect, it } from "vitest";
import { bestOf, ownPart } from "./health-watch";

const wait = (ownMs: number) => ({ wallMs: ownMs, ownMs });

describe("the longest wait for /healthz", () => {
  it("does not include the part of a wait that the machine caused", () => {
    const waits = [
      { from: 0, to: 300, queuedMs: 20 },
      { from: 400, to: 500, queuedMs: 60 },
    ];
    expect(ownPart(waits, [{ from: 10, to: 260, queuedMs: 0 }])).toBe(50);
    expect(ownPart(waits, [{ from: 300, to: 400, queuedMs: 0 }])).toBe(280);
    expect(ownPart([], [])).toBe(0);
  });

  it("is short if a delay occurs only once, and long if the delay occurs in every try", async () => {
    const once = [400, 30, 20];
    expect((await bestOf(3, 250, async () => wait(once.shift() ?? 0))).ownMs).toBe(30);
    expect((await bestOf(3, 250, async () => wait(400))).ownMs).toBe(400);
  });
});
