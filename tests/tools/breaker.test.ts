import { describe, expect, it } from "vitest";
import {
  admitRequest,
  type Breaker,
  CLOSED,
  afterFailure,
  afterSuccess,
  afterInconclusive,
} from "../../src/tools/breaker";

describe("the breaker of a server", () => {
  const breakerAfter = (failures: number, now = 0): Breaker =>
    Array.from({ length: failures }).reduce<Breaker>(
      (breaker) => afterFailure(breaker, now),
      CLOSED,
    );
  it.each([
    { name: "admits requests after two failures", breaker: breakerAfter(2), now: 0, admits: true },
    { name: "opens after three failures", breaker: breakerAfter(3), now: 9_999, admits: false },
    {
      name: "admits a probe after ten seconds",
      breaker: breakerAfter(3),
      now: 10_000,
      admits: true,
    },
    {
      name: "stays open longer after each further failure",
      breaker: breakerAfter(4),
      now: 19_999,
      admits: false,
    },
    {
      name: "stays open for five minutes at most",
      breaker: breakerAfter(40),
      now: 300_000,
      admits: true,
    },
    { name: "closes with the first success", breaker: afterSuccess(), now: 0, admits: true },
  ])("$name", ({ breaker, now, admits }) => {
    expect(admitRequest(breaker, now).ok).toBe(admits);
  });

  it("admits one request as a probe, and another probe after an inconclusive outcome", () => {
    const first = admitRequest(breakerAfter(3), 10_000);
    if (!first.ok) throw new Error("the probe was not admitted");
    expect(admitRequest(first.breaker, 10_001).ok).toBe(false);
    expect(admitRequest(afterInconclusive(first.breaker), 10_001).ok).toBe(true);
  });
});
