import { describe, expect, it } from "vitest";
import { priceError, quotaError } from "../../../src/api/sessions/quota-refusals";

const spend = (limitUsd: number, spentUsd: number, reservedUsd = 0) =>
  quotaError({ ok: false, code: "spend_exceeded", limitUsd, spentUsd, reservedUsd }).message;
const running = (count: number, limit: number) =>
  quotaError({ ok: false, code: "quota_exceeded", running: count, limit }).message;

describe("the refusal of a tenant's limit (A5)", () => {
  it("names amounts below a dollar with four decimals", () => {
    expect(spend(0.002, 0.0013, 0.0007)).toContain(
      "of today's $0.0020, $0.0013 are spent and $0.0007 reserved",
    );
    expect(spend(20, 19.5)).toContain("of today's $20.00, $19.50 are spent and $0.0000 reserved");
  });

  it("counts one turn as one", () => {
    expect(running(1, 1)).toMatch(/^1 turn is running; at most 1 can run at a time\. /);
    expect(running(2, 2)).toMatch(/^2 turns are running; at most 2 can run at a time\. /);
  });

  it("names the tenant's daily budget if that is too small, and no remedy that is refused too", () => {
    const { message, code } = priceError({
      ok: false,
      code: "price_unknown",
      agents: ["a", "b"],
      isDaily: true,
    });
    expect(code).toBe("price_unknown");
    expect(message).toBe(
      "The price of a, b is not known. This tenant has a daily budget (TENANT_USD_PER_DAY): use models with a known price, or ask the operator to remove the limit.",
    );
    expect(priceError({ ok: false, code: "price_unknown", agents: ["a"] }).message).toBe(
      "The price of a is not known, so a cost limit is not possible. Limit the run with budget.max_tokens instead.",
    );
  });
});
