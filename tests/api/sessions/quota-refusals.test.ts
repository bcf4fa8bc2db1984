import { describe, expect, it } from "vitest";
import { priceError, quotaError } from "../../../src/api/sessions/quota-refusals";

const spendMessage = (limitUsd: number, spentUsd: number, reservedUsd = 0) =>
  quotaError({ ok: false, code: "spend_exceeded", limitUsd, spentUsd, reservedUsd }).message;
const turnsMessage = (count: number, limit: number) =>
  quotaError({ ok: false, code: "quota_exceeded", running: count, limit }).message;

describe("the error for a limit of a tenant (A5)", () => {
  it("states amounts below a dollar with four decimals", () => {
    for (const amount of ["$0.0020", "$0.0013", "$0.0007"])
      expect(spendMessage(0.002, 0.0013, 0.0007)).toContain(amount);
    for (const amount of ["$20.00", "$19.50"]) expect(spendMessage(20, 19.5)).toContain(amount);
  });

  it("uses the singular for one running turn", () => {
    expect(turnsMessage(1, 1)).toMatch(/^1 turn is /);
    expect(turnsMessage(2, 2)).toMatch(/^2 turns are /);
  });

  it("for unknown prices suggests `max_tokens` only without a daily budget, which also needs prices", () => {
    const dailyError = priceError({
      ok: false,
      code: "price_unknown",
      agents: ["a", "b"],
      isDaily: true,
    });
    expect(dailyError.code).toBe("price_unknown");
    expect(dailyError.message).toContain("The price of a, b");
    expect(dailyError.message).toContain("TENANT_USD_PER_DAY");
    expect(dailyError.message).not.toContain("max_tokens");
    const budgetError = priceError({ ok: false, code: "price_unknown", agents: ["a"] });
    expect(budgetError.code).toBe("price_unknown");
    expect(budgetError.message).toContain("budget.max_tokens");
  });
});
