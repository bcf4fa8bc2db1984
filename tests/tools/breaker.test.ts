import { describe, expect, it } from "vitest";
import {
  admit,
  type Breaker,
  CLOSED,
  failed,
  succeeded,
  inconclusive,
} from "../../src/tools/breaker";

describe("the breaker", () => {
  const broken = (failures: number, now = 0): Breaker =>
    Array.from({ length: failures }).reduce<Breaker>((breaker) => failed(breaker, now), CLOSED);
  it.each([
    { name: "admits requests after two failures", breaker: broken(2), now: 0, ok: true },
    { name: "opens after three failures", breaker: broken(3), now: 9_999, ok: false },
    { name: "admits a probe after ten seconds", breaker: broken(3), now: 10_000, ok: true },
    {
      name: "stays open longer after each further failure",
      breaker: broken(4),
      now: 19_999,
      ok: false,
    },
    { name: "stays open for five minutes at most", breaker: broken(40), now: 300_000, ok: true },
    { name: "closes with the first success", breaker: succeeded(), now: 0, ok: true },
  ])("$name", ({ breaker, now, ok }) => {
    expect(admit(breaker, now).ok).toBe(ok);
  });

  it("admits one probe at a time, and the next one after an inconclusive outcome", () => {
    const first = admit(broken(3), 10_000);
    if (!first.ok) throw new Error("was not admitted");
    expect(admit(first.breaker, 10_001).ok).toBe(false);
    expect(admit(inconclusive(first.breaker), 10_001).ok).toBe(true);
  });
});
