import { describe, expect, it } from "vitest";
import { Calibrations, expectedTokens } from "../../src/agents/token-estimates";
import type { Usage } from "../../src/protocol/events";
import { REQUEST } from "../contracts/contract-support";

const counted = (input_tokens: number, more: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens: 10,
  reasoning_tokens: 0,
  cached_tokens: 0,
  ...more,
});

describe("the factor between our estimates and the counts of a provider is", () => {
  it.each<{ name: string; notes: [number, Usage | null][]; is: number }>([
    { name: "1 before any call", notes: [], is: 1 },
    { name: "that of the first call", notes: [[1_000, counted(1_500)]], is: 1.5 },
    {
      name: "between its old value and that of the last call",
      notes: [
        [1_000, counted(1_500)],
        [1_000, counted(1_100)],
      ],
      is: 1.3,
    },
    { name: "not changed by a call without usage", notes: [[1_000, null]], is: 1 },
    { name: "not changed by a small call", notes: [[400, counted(4_000)]], is: 1 },
    { name: "not changed by a count of 0", notes: [[1_000, counted(0)]], is: 1 },
    {
      name: "not changed by a call that searched",
      notes: [[1_000, counted(30_000, { hosted_uses: { web_search: 1 } })]],
      is: 1,
    },
    {
      name: "not changed by a call of several requests",
      notes: [[1_000, counted(3_000, { requests: 2 })]],
      is: 1,
    },
    { name: "at most 4", notes: [[1_000, counted(90_000)]], is: 4 },
    { name: "at least 0.5", notes: [[1_000, counted(3)]], is: 0.5 },
  ])("$name", ({ notes, is }) => {
    const calibrations = new Calibrations();
    for (const [estimated, usage] of notes) calibrations.note(0, estimated, usage);
    expect(calibrations.of(0)).toBeCloseTo(is, 9);
    expect(calibrations.of(1)).toBe(1);
  });
});

it("the expected tokens of a call are its size by the factor, and a reply within its cap", () => {
  const [plain, calibrated] = [expectedTokens(REQUEST), expectedTokens(REQUEST, 2)];
  const reply = Math.min(1_000, REQUEST.maxOutputTokens ?? 1_000);
  expect(calibrated - reply).toBeGreaterThanOrEqual(2 * (plain - reply) - 1);
  expect(expectedTokens({ ...REQUEST, maxOutputTokens: 10 })).toBe(plain - reply + 10);
});
