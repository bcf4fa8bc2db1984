import { describe, expect, it } from "vitest";
import { priceError, quotaError } from "../../../src/api/sessions/quota-refusals";

const spend = (limitUsd: number, spentUsd: number, reservedUsd = 0) =>
  quotaError({ ok: false, code: "spend_exceeded", limitUsd, spentUsd, reservedUsd }).message;
const running = (count: number, limit: number) =>
  quotaError({ ok: false, code: "quota_exceeded", running: count, limit }).message;

describe("the refusal of a tenant's limit (A5)", () => {
  it("names amounts below a dollar with four decimals", () => {
    for (const amount of ["$0.0020", "$0.0013", "$0.0007"])
      expect(spend(0.002, 0.0013, 0.0007)).toContain(amount);
    for (const amount of ["$20.00", "$19.50"]) expect(spend(20, 19.5)).toContain(amount);
  });

  it("counts one turn as one", () => {
    expect(running(1, 1)).toMatch(/^1 turn is /);
    expect(running(2, 2)).toMatch(/^2 turns are /);
  });

  it("names the tenant's daily budget if that is too small, and no remedy that is refused too", () => {
    const daily = priceError({
      ok: false,
      code: "price_unknown",
      agents: ["a", "b"],
      isDaily: true,
    });
    expect(daily.code).toBe("price_unknown");
    expect(daily.message).toContain("The price of a, b");
    expect(daily.message).toContain("TENANT_USD_PER_DAY");
    expect(daily.message).not.toContain("max_tokens");
    const capped = priceError({ ok: false, code: "price_unknown", agents: ["a"] });
    expect(capped.code).toBe("price_unknown");
    expect(capped.message).toContain("budget.max_tokens");
  });
});
