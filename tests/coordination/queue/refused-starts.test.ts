import { describe, expect, it } from "vitest";
import { afterError, afterRefusal, type AfterRefusal } from "../../../src/coordination";

const NOW = 1_000_000;
const DAY_END = NOW + 3_600_000;

describe("a queued turn that is refused", () => {
  it.each<{ name: string; code: string; tries?: number; now?: number; then: AfterRefusal }>([
    { name: "waits for a turn that started first", code: "turn_running", then: { type: "wait" } },
    {
      name: "waits while its session is being erased",
      code: "session_not_found",
      then: { type: "retry", at: NOW + 1_000 },
    },
    {
      name: "is tried again when the tenant runs too many turns",
      code: "quota_exceeded",
      then: { type: "retry", at: NOW + 1_000 },
    },
    {
      name: "waits longer after each try",
      code: "quota_exceeded",
      tries: 3,
      then: { type: "retry", at: NOW + 8_000 },
    },
    {
      name: "waits for a place for a minute at most",
      code: "quota_exceeded",
      tries: 30,
      then: { type: "retry", at: NOW + 60_000 },
    },
    {
      name: "waits for money for ten minutes at most",
      code: "spend_exceeded",
      tries: 30,
      then: { type: "retry", at: NOW + 600_000 },
    },
    {
      name: "is tried again when a new day starts",
      code: "spend_exceeded",
      tries: 30,
      now: DAY_END - 5_000,
      then: { type: "retry", at: DAY_END },
    },
    {
      name: "fails if the tenant's storage is full",
      code: "storage_exceeded",
      then: { type: "fail" },
    },
    { name: "fails if a context is missing", code: "context_missing", then: { type: "fail" } },
    { name: "fails if its budget is too small", code: "budget_too_small", then: { type: "fail" } },
  ])("$name", ({ code, tries = 0, now = NOW, then }) => {
    expect(afterRefusal({ code, tries, now, resetsAt: DAY_END })).toEqual(then);
  });

  it("is tried again after an error, for ever, at least every minute", () => {
    expect([0, 1, 2, 50].map((tries) => afterError(tries, NOW) - NOW)).toEqual([
      1_000, 2_000, 4_000, 60_000,
    ]);
  });
});
