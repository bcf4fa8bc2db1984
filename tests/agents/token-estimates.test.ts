import { describe, expect, it } from "vitest";
import { Calibrations, expectedTokens } from "../../src/agents/token-estimates";
import type { Usage } from "../../src/protocol/events";
import { REQUEST } from "../contracts/contract-support";

const countedUsage = (input_tokens: number, changes: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens: 10,
  reasoning_tokens: 0,
  cached_tokens: 0,
  ...changes,
});

describe("the ratio of the provider's counts to our estimates is", () => {
  it.each<{ name: string; notes: [number, Usage | null][]; ratio: number }>([
    { name: "1 before any call", notes: [], ratio: 1 },
    { name: "the ratio of the first call", notes: [[1_000, countedUsage(1_500)]], ratio: 1.5 },
    {
      name: "the mean of its old value and the ratio of the last call",
      notes: [
        [1_000, countedUsage(1_500)],
        [1_000, countedUsage(1_100)],
      ],
      ratio: 1.3,
    },
    { name: "not changed by a call without usage", notes: [[1_000, null]], ratio: 1 },
    { name: "not changed by a small call", notes: [[400, countedUsage(4_000)]], ratio: 1 },
    { name: "not changed by a count of 0", notes: [[1_000, countedUsage(0)]], ratio: 1 },
    {
      name: "not changed by a call with web searches",
      notes: [[1_000, countedUsage(30_000, { hosted_uses: { web_search: 1 } })]],
      ratio: 1,
    },
    {
      name: "not changed by a call of several requests",
      notes: [[1_000, countedUsage(3_000, { requests: 2 })]],
      ratio: 1,
    },
    { name: "at most 4", notes: [[1_000, countedUsage(90_000)]], ratio: 4 },
    { name: "at least 0.5", notes: [[1_000, countedUsage(3)]], ratio: 0.5 },
  ])("$name", ({ notes, ratio }) => {
    const calibrations = new Calibrations();
    for (const [estimated, usage] of notes) calibrations.note(0, estimated, usage);
    expect(calibrations.of(0)).toBeCloseTo(ratio, 9);
    expect(calibrations.of(1)).toBe(1);
  });
});

it("the expected tokens of a call are its estimated input times the ratio, plus a reply within its cap", () => {
  const [plain, calibrated] = [expectedTokens(REQUEST), expectedTokens(REQUEST, 2)];
  const reply = Math.min(1_000, REQUEST.maxOutputTokens ?? 1_000);
  expect(calibrated - reply).toBeGreaterThanOrEqual(2 * (plain - reply) - 1);
  expect(expectedTokens({ ...REQUEST, maxOutputTokens: 10 })).toBe(plain - reply + 10);
});
