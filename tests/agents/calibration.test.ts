import { describe, expect, it } from "vitest";
import { Calibrations } from "../../src/agents/calibration";
import { expectedTokens } from "../../src/agents/expected-tokens";
import type { Usage } from "../../src/protocol/events";
import { REQUEST } from "../contracts/contract-support";

const counted = (input_tokens: number, more: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens: 10,
  reasoning_tokens: 0,
  cached_tokens: 0,
  ...more,
});

describe("what a provider counts of our estimates is", () => {
  it.each<{ name: string; notes: [number, Usage | null][]; is: number }>([
    { name: "1 where nothing is known", notes: [], is: 1 },
    { name: "what the first call told", notes: [[1_000, counted(1_500)]], is: 1.5 },
    {
      name: "between what it was and what the last call told",
      notes: [
        [1_000, counted(1_500)],
        [1_000, counted(1_100)],
      ],
      is: 1.3,
    },
    { name: "not told by a call without usage", notes: [[1_000, null]], is: 1 },
    { name: "not told by a small call", notes: [[400, counted(4_000)]], is: 1 },
    { name: "not told by a provider that counts nothing", notes: [[1_000, counted(0)]], is: 1 },
    {
      name: "not told by a call that searched",
      notes: [[1_000, counted(30_000, { hosted_uses: { web_search: 1 } })]],
      is: 1,
    },
    {
      name: "not told by a call of several requests",
      notes: [[1_000, counted(3_000, { requests: 2 })]],
      is: 1,
    },
    { name: "never absurdly much", notes: [[1_000, counted(90_000)]], is: 4 },
    { name: "never absurdly little", notes: [[1_000, counted(3)]], is: 0.5 },
  ])("$name", ({ notes, is }) => {
    const calibrations = new Calibrations();
    for (const [estimated, usage] of notes) calibrations.note(0, estimated, usage);
    expect(calibrations.of(0)).toBeCloseTo(is, 9);
    expect(calibrations.of(1)).toBe(1);
  });
});

it("a call is expected to take its size as its provider counts, and a reply within its cap", () => {
  const [plain, calibrated] = [expectedTokens(REQUEST), expectedTokens(REQUEST, 2)];
  const reply = Math.min(1_000, REQUEST.maxOutputTokens ?? 1_000);
  expect(calibrated - reply).toBeGreaterThanOrEqual(2 * (plain - reply) - 1);
  expect(expectedTokens({ ...REQUEST, maxOutputTokens: 10 })).toBe(plain - reply + 10);
});
