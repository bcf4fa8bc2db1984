import { expect, it } from "vitest";
import { holdReason, type RefusedStart, refusalReason } from "../../src/evals/refused-start";

const quota = (limit: number): RefusedStart => ({ code: "quota_exceeded", limit });
const spend = (reservedUsd: number): RefusedStart => ({
  code: "spend_exceeded",
  limitUsd: 2,
  reservedUsd,
});

it.each([
  {
    name: "one running turn to end",
    refusal: quota(1),
    why: "its tenant had 1 turn running, its limit",
  },
  {
    name: "several running turns to end",
    refusal: quota(3),
    why: "its tenant had 3 turns running, its limit",
  },
  {
    name: "a budget that running turns have reserved",
    refusal: spend(1),
    why: "the rest of its tenant's daily budget was reserved by running turns",
  },
])("a start that waits for $name is retried", ({ refusal, why }) => {
  expect(holdReason(refusal)).toBe(why);
});

it.each<{ refusal: RefusedStart; reason: string }>([
  { refusal: spend(0), reason: "its tenant's daily budget ($2.00) is exhausted" },
  {
    refusal: { code: "price_unknown", agents: ["anna", "ben"] },
    reason: "its tenant has a daily budget, and the price of anna, ben is unknown",
  },
  {
    refusal: { code: "context_missing", names: ["docs"] },
    reason: "no context is uploaded as docs",
  },
  { refusal: { code: "budget_too_small" }, reason: "budget too small" },
])(
  "a start that is refused with $refusal.code is not retried, and the reason is: $reason",
  ({ refusal, reason }) => {
    expect(holdReason(refusal)).toBeNull();
    expect(refusalReason(refusal)).toBe(reason);
  },
);
