import { describe, expect, it } from "vitest";
import {
  decide,
  EMPTY_WORLD,
  emptySession,
  eventsOf,
  evolve,
  type Input,
  runningTurn,
} from "../../../src/coordination";
import { minCallUsd } from "../../../src/coordination/budget/budget";
import { withAudioPricing } from "../../../src/coordination/budget/audio-pricing";
import type { AttachmentKind } from "../../../src/protocol/attachments";
import type { Price } from "../../../src/protocol/team";
import { modelFacts } from "../../../src/providers/models";
import { agentRules, teamRules } from "../builders";

const FLASH: Price = { input: 0.3, cached_input: 0.03, output: 2.5, sound: 1 };
const priceWith = (price: Price | null, ...kinds: AttachmentKind[]) =>
  withAudioPricing(
    teamRules([agentRules("a", { price })]),
    kinds.map((kind) => ({ kind })),
  ).agents[0]?.price;

describe("the cost of a turn with audio in its question", () => {
  it.each<{ name: string; price: Price | null; expected: Price | null }>([
    {
      name: "uses the price of audio for all input if it is higher",
      price: FLASH,
      expected: { ...FLASH, input: 1, cached_input: 0.1 },
    },
    {
      name: "has prices for long prompts and cache writes that are higher by the same factor",
      price: {
        input: 1,
        cached_input: 0.5,
        cache_write: 2,
        output: 3,
        sound: 2,
        long_prompt: { above: 10, input: 2, cached_input: 1, cache_write: 4, output: 6 },
      },
      expected: {
        input: 2,
        cached_input: 1,
        cache_write: 4,
        output: 3,
        sound: 2,
        long_prompt: { above: 10, input: 4, cached_input: 2, cache_write: 8, output: 6 },
      },
    },
    {
      name: "uses the usual price if audio costs the same",
      price: { input: 2, cached_input: 1, output: 3 },
      expected: { input: 2, cached_input: 1, output: 3 },
    },
    {
      name: "uses the usual price if audio costs less",
      price: { ...FLASH, sound: 0.1 },
      expected: { ...FLASH, sound: 0.1 },
    },
    { name: "is unknown without a price", price: null, expected: null },
  ])("$name", ({ price, expected }) => {
    const audioPrice = priceWith(price, "text", "audio");
    if (expected === null) expect(audioPrice).toBeNull();
    else
      expect(audioPrice).toEqual({
        ...expected,
        cached_input: expect.closeTo(expected.cached_input, 9),
      });
  });

  it.each<AttachmentKind>(["image", "pdf", "text"])(
    "uses the usual price for another kind of attachment: %s",
    (kind) => {
      expect(priceWith(FLASH, kind)).toBe(FLASH);
    },
  );

  it("is restored by a fold of the log, and applies only to that turn", () => {
    const rules = teamRules([agentRules("a", { price: FLASH })]);
    const attachment = {
      kind: "audio",
      name: "a.wav",
      media_type: "audio/wav",
      size: 68,
      sha256: "0".repeat(64),
    } as const;
    const input: Input = {
      type: "turn_requested",
      rules,
      question: "What is it?",
      attached: { attachments: [attachment], tokens: 1_000 },
      parentTurn: null,
      budget: {},
      timeoutMs: null,
      at: 1_800_000_000_000,
      seed: 1,
    };
    const state = eventsOf(decide(emptySession, input, EMPTY_WORLD)).reduce(evolve, emptySession);
    expect(runningTurn(state)?.rules.agents[0]?.price?.input).toBe(1);
    expect(state.rules).toEqual(rules);
  });

  it("is at least Gemini's own price of audio, for cached and other input", () => {
    const { price } = modelFacts("gemini-2.5-flash", "google");
    const audioPrice = priceWith(price, "audio");
    expect(audioPrice).toMatchObject({ input: 1, cached_input: expect.closeTo(0.1, 9) });
    const minUsd = (priceOfModel: Price | null | undefined) =>
      minCallUsd([agentRules("a", { price: priceOfModel ?? null })], 10_000);
    expect(minUsd(audioPrice)).toBeGreaterThan(2 * minUsd(price));
  });
});
