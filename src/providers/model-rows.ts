/**
 * Known models with their official prices in US dollars per million tokens, and the date on which
 * the prices were read. The sources are the pages of the maker or host, or several dated catalogs
 * of such prices.
 *
 * - If the maker has announced a higher price, the higher price is used.
 * - If prices change by the hour, the highest price is used.
 * - If no price of cached input is published, the price of input is used.
 * - A temporary discount is ignored: the row has the full price.
 * - A name that the maker redirects to newer models (`…-latest`) has no row. The row
 *   `gpt-5-chat-latest` is a separate model.
 */

/**
 * Factors on the prices of a request whose prompt has more than `above` input tokens. They apply to
 * all tokens of the request.
 */
export type LongPrompt = { above: number; input: number; output: number };

/**
 * Two limits in tokens, then prices: [context window, max output, input, cached input, output,
 * cache write, long prompts]. The price of cache writes is `null` or omitted if there is none.
 */
export type Row = readonly [number, number, number, number, number, (number | null)?, LongPrompt?];

export type ModelGroup = {
  /** Id of the host that charges these prices. */
  host: string;
  /**
   * Whether only the maker sells these models. If so, an unknown address can only be a proxy for
   * the maker, and the prices apply there too.
   */
  closed: boolean;
  /** The day on which the prices were read. */
  pricedAt: string;
  rows: Readonly<Record<string, Row>>;
  /**
   * Price of audio input, for models that charge more for audio than for text. Other models charge
   * the price of text or accept no audio.
   */
  sound?: Readonly<Record<string, number>>;
};

const OPENAI_LONG: LongPrompt = { above: 272_000, input: 2, output: 1.5 };
const GOOGLE_LONG: LongPrompt = { above: 200_000, input: 2, output: 1.5 };
const XAI_LONG: LongPrompt = { above: 199_999, input: 2, output: 2 };
const HAIKU_LONG: LongPrompt = { above: 100_000, input: 5, output: 5 };

export const MODEL_GROUPS: readonly ModelGroup[] = [
  {
    host: "openai",
    closed: true,
    pricedAt: "2026-11-18",
    rows: {
      "gpt-6.2-astra": [1_050_000, 128_000, 8, 0.4, 40, 10, OPENAI_LONG],
      "gpt-6.2-sol": [1_050_000, 128_000, 2, 0.1, 10, 2.5, OPENAI_LONG],
    },
  },
  {
    host: "openai",
    closed: true,
    pricedAt: "2026-11-10",
    rows: {
      "gpt-6.1-sol": [1_050_000, 128_000, 2, 0.1, 10, 2.5, OPENAI_LONG],
      "gpt-6.1-terra": [1_050_000, 128_000, 1, 0.05, 5, 1.25, OPENAI_LONG],
      "gpt-6-astra": [1_050_000, 128_000, 10, 1, 50, 12.5, OPENAI_LONG],
      "gpt-6-sol": [1_050_000, 128_000, 2, 0.2, 10, 2.5, OPENAI_LONG],
      "gpt-6-luna": [1_050_000, 128_000, 0.1, 0.01, 0.5, 0.125, OPENAI_LONG],
      "gpt-5.6": [1_050_000, 128_000, 4, 0.4, 20, 5, OPENAI_LONG],
      "gpt-5.6-sol": [1_050_000, 128_000, 4, 0.4, 20, 5, OPENAI_LONG],
      "gpt-5.6-terra": [1_050_000, 128_000, 2, 0.2, 12, 2.5, OPENAI_LONG],
      "gpt-5.6-luna": [1_050_000, 128_000, 0.2, 0.02, 1.2, 0.25, OPENAI_LONG],
      "gpt-5.5": [1_050_000, 128_000, 5, 0.5, 30, null, OPENAI_LONG],
      "gpt-5.5-pro": [1_050_000, 128_000, 30, 30, 180, null, OPENAI_LONG],
      "gpt-5.4": [1_050_000, 128_000, 2.5, 0.25, 15, null, OPENAI_LONG],
      "gpt-5.4-pro": [1_050_000, 128_000, 30, 30, 180, null, OPENAI_LONG],
      "gpt-5.4-mini": [400_000, 128_000, 0.75, 0.075, 4.5],
      "gpt-5.4-nano": [400_000, 128_000, 0.2, 0.02, 1.25],
      "gpt-5.3-codex": [400_000, 128_000, 1.75, 0.175, 14],
      "gpt-5.2": [400_000, 128_000, 1.75, 0.175, 14],
      "gpt-5.2-pro": [400_000, 128_000, 21, 21, 168],
      "gpt-5.1": [400_000, 128_000, 1.25, 0.125, 10],
      "gpt-5": [400_000, 128_000, 1.25, 0.125, 10],
      "gpt-5-mini": [400_000, 128_000, 0.25, 0.025, 2],
      "gpt-5-nano": [400_000, 128_000, 0.05, 0.005, 0.4],
      "gpt-5-pro": [400_000, 128_000, 15, 15, 120],
      "gpt-5-chat-latest": [128_000, 16_384, 1.25, 0.125, 10],
      "gpt-4.1": [1_047_576, 32_768, 2, 0.5, 8],
      "gpt-4.1-mini": [1_047_576, 32_768, 0.4, 0.1, 1.6],
      "gpt-4.1-nano": [1_047_576, 32_768, 0.1, 0.025, 0.4],
      "gpt-4o": [128_000, 16_384, 2.5, 1.25, 10],
      "gpt-4o-2024-05-13": [128_000, 4_096, 5, 5, 15],
      "gpt-4o-mini": [128_000, 16_384, 0.15, 0.075, 0.6],
      o1: [200_000, 100_000, 15, 7.5, 60],
      o3: [200_000, 100_000, 2, 0.5, 8],
      "o3-mini": [200_000, 100_000, 1.1, 0.55, 4.4],
      "o3-pro": [200_000, 100_000, 20, 20, 80],
      "o4-mini": [200_000, 100_000, 1.1, 0.275, 4.4],
      "gpt-4-turbo": [128_000, 4_096, 10, 10, 30],
    },
  },
  {
    host: "openai",
    closed: true,
    pricedAt: "2025-12-01",
    rows: { "gpt-3.5-turbo": [16_385, 4_096, 0.5, 0.5, 1.5] },
  },
  {
    host: "anthropic",
    closed: true,
    pricedAt: "2026-11-10",
    rows: {
      "claude-fable-5-2": [1_000_000, 128_000, 8, 0.2, 40, 10],
      "claude-fable-5-1": [1_000_000, 128_000, 10, 0.25, 50, 12.5],
      "claude-fable-5": [1_000_000, 128_000, 10, 1, 50, 12.5],
      "claude-opus-5-5": [1_000_000, 128_000, 4, 0.2, 20, 5],
      "claude-opus-5": [1_000_000, 128_000, 5, 0.5, 25, 6.25],
      "claude-opus-4-8": [1_000_000, 128_000, 5, 0.5, 25, 6.25],
      "claude-opus-4-7": [1_000_000, 128_000, 5, 0.5, 25, 6.25],
      "claude-opus-4-6": [1_000_000, 128_000, 5, 0.5, 25, 6.25],
      "claude-opus-4-5": [200_000, 64_000, 5, 0.5, 25, 6.25],
      "claude-sonnet-5-5": [1_000_000, 128_000, 2, 0.1, 10, 2.5],
      "claude-sonnet-5": [1_000_000, 128_000, 2, 0.2, 10, 2.5],
      "claude-sonnet-4-6": [1_000_000, 128_000, 3, 0.3, 15, 3.75],
      "claude-sonnet-4-5": [200_000, 64_000, 3, 0.3, 15, 3.75],
      "claude-haiku-5-5": [1_000_000, 128_000, 0.1, 0.01, 0.5, 0.125, HAIKU_LONG],
      "claude-haiku-4-5": [200_000, 64_000, 1, 0.1, 5, 1.25],
      // The maker has retired these models, but configs still name them.
      "claude-opus-4-1": [200_000, 32_000, 15, 1.5, 75, 18.75],
      "claude-opus-4": [200_000, 32_000, 15, 1.5, 75, 18.75],
      "claude-sonnet-4": [200_000, 64_000, 3, 0.3, 15, 3.75],
      "claude-3-7-sonnet": [200_000, 64_000, 3, 0.3, 15, 3.75],
      "claude-3-5-haiku": [200_000, 8_192, 0.8, 0.08, 4, 1],
    },
  },
  {
    host: "google",
    closed: true,
    pricedAt: "2026-11-10",
    rows: {
      // discounted by half until the end of November 2026
      "gemini-4-argon": [1_048_576, 32_768, 4, 0.2, 20],
      // the next three models: discounted by half until the end of 2026
      "gemini-3.8-flash": [1_048_576, 65_536, 1.5, 0.15, 7.5],
      "gemini-3.7-flash": [1_048_576, 65_536, 1.5, 0.15, 7.5],
      "gemini-3.6-flash": [1_048_576, 65_536, 1.5, 0.15, 7.5],
      "gemini-3.5-flash": [1_048_576, 65_536, 1.5, 0.15, 9],
      "gemini-3.5-flash-lite": [1_048_576, 65_536, 0.3, 0.03, 2.5],
      "gemini-3.1-pro-preview": [1_048_576, 65_536, 2, 0.2, 12, null, GOOGLE_LONG],
      "gemini-3.1-flash-lite": [1_048_576, 65_536, 0.25, 0.025, 1.5],
      "gemini-3-flash-preview": [1_048_576, 65_536, 0.5, 0.05, 3],
      "gemini-2.5-pro": [1_048_576, 65_536, 1.25, 0.125, 10, null, GOOGLE_LONG],
      "gemini-2.5-flash": [1_048_576, 65_536, 0.3, 0.03, 2.5],
      "gemini-2.5-flash-lite": [1_048_576, 65_536, 0.1, 0.01, 0.4],
    },
    sound: {
      "gemini-3.1-flash-lite": 0.5,
      "gemini-3-flash-preview": 1,
      "gemini-2.5-flash": 1,
      "gemini-2.5-flash-lite": 0.3,
    },
  },
  {
    host: "xai",
    closed: true,
    pricedAt: "2026-11-10",
    rows: {
      "grok-4.7": [500_000, 128_000, 2, 0.5, 6, null, XAI_LONG], // its maker states no output limit
      "grok-4.6": [500_000, 128_000, 2, 0.5, 6, null, XAI_LONG],
      "grok-4.5": [500_000, 128_000, 2, 0.5, 6, null, XAI_LONG],
      "grok-4.3": [1_000_000, 30_000, 1.25, 0.2, 2.5, null, XAI_LONG],
      "grok-4.20": [1_000_000, 30_000, 1.25, 0.2, 2.5, null, XAI_LONG],
      "grok-4.20-0309-reasoning": [1_000_000, 30_000, 1.25, 0.2, 2.5, null, XAI_LONG],
      "grok-4.20-0309-non-reasoning": [1_000_000, 30_000, 1.25, 0.2, 2.5, null, XAI_LONG],
    },
  },
  {
    host: "xai",
    closed: true,
    pricedAt: "2025-12-01",
    rows: {
      "grok-4": [256_000, 64_000, 3, 0.75, 15, null, { above: 128_000, input: 2, output: 2 }],
      "grok-3": [131_072, 16_384, 3, 0.75, 15],
      "grok-3-mini": [131_072, 16_384, 0.3, 0.075, 0.5],
    },
  },
  {
    host: "deepseek",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "deepseek-flash": [1_000_000, 384_000, 0.3, 0.006, 1.2],
      "deepseek-v4-flash": [1_000_000, 384_000, 0.3, 0.006, 1.2], // older name of the same model
      "deepseek-v4-pro": [1_000_000, 384_000, 1.32, 0.044, 3.96],
    },
  },
  {
    host: "zai",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "glm-5.3": [1_000_000, 131_072, 1.4, 0.26, 4.4],
      "glm-5.3-flash": [1_000_000, 128_000, 0.15, 0.03, 0.5],
      "glm-5.2": [1_000_000, 131_072, 1.4, 0.26, 4.4],
      "glm-5-turbo": [200_000, 131_072, 1.2, 0.24, 4],
      "glm-4.7": [204_800, 131_072, 0.6, 0.11, 2.2],
    },
  },
  {
    host: "zai",
    closed: false,
    pricedAt: "2025-12-01",
    rows: {
      "glm-4.6": [200_000, 128_000, 0.6, 0.11, 2.2],
      "glm-4.5": [128_000, 96_000, 0.6, 0.11, 2.2],
    },
  },
  {
    host: "moonshot",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "kimi-k3.1-pro": [1_048_576, 131_072, 2, 0.2, 10],
      "kimi-k3": [1_048_576, 131_072, 3, 0.3, 15],
      "kimi-k2.6": [262_144, 131_072, 0.95, 0.16, 4],
    },
  },
  {
    host: "moonshot",
    closed: false,
    pricedAt: "2025-12-01",
    rows: { "kimi-k2-thinking": [262_144, 65_536, 0.6, 0.15, 2.5] },
  },
  {
    host: "qwen",
    closed: false,
    pricedAt: "2026-08-31",
    rows: { "qwen3.8-max": [1_000_000, 65_536, 2, 2, 6] },
  },
  {
    host: "mistral",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "mistral-large-4": [1_048_576, 262_144, 0.7, 0.07, 2.1],
      "mistral-large-2512": [262_144, 262_144, 0.5, 0.05, 1.5],
      "mistral-medium-3.5": [262_144, 262_144, 1.5, 0.15, 7.5],
      "mistral-medium-2604": [262_144, 262_144, 1.5, 0.15, 7.5],
      "mistral-small-2603": [262_144, 256_000, 0.15, 0.015, 0.6],
    },
  },
  {
    host: "groq",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "openai/gpt-oss-120b": [131_072, 65_536, 0.15, 0.075, 0.6],
      "openai/gpt-oss-20b": [131_072, 65_536, 0.075, 0.0375, 0.3],
      "qwen/qwen3.8-27b": [131_072, 16_384, 0.8, 0.8, 4],
      "llama-3.3-70b-versatile": [131_072, 32_768, 0.59, 0.59, 0.79],
      "llama-3.1-8b-instant": [131_072, 131_072, 0.05, 0.05, 0.08],
    },
  },
  {
    host: "cerebras",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "gpt-oss-120b": [131_072, 40_960, 0.35, 0.35, 0.75],
      "qwen-3.8-27b": [131_072, 40_960, 0.99, 0.99, 1.49],
    },
  },
  {
    host: "together",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "openai/gpt-oss-120b": [131_072, 131_072, 0.15, 0.15, 0.6],
      "zai-org/GLM-5.3": [1_048_575, 262_144, 1.4, 0.26, 4.4],
      "moonshotai/Kimi-K3.1-Pro": [1_048_576, 131_072, 2, 0.2, 10],
      "deepseek-ai/DeepSeek-V4.1-Flash": [1_048_576, 384_000, 0.3, 0.006, 1.2],
    },
  },
  {
    host: "fireworks",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "accounts/fireworks/models/glm-5p3": [1_048_573, 262_144, 1.4, 0.26, 4.4],
      "accounts/fireworks/models/glm-5p3-flash": [1_048_573, 131_072, 0.15, 0.03, 0.5],
      "accounts/fireworks/models/kimi-k3": [1_048_576, 131_072, 3, 0.3, 15],
      "accounts/fireworks/models/kimi-k3p1-pro": [1_048_576, 131_072, 2, 0.2, 10],
    },
  },
  {
    host: "workers_ai",
    closed: false,
    pricedAt: "2026-11-10",
    rows: {
      "@cf/openai/gpt-oss-120b": [128_000, 16_384, 0.35, 0.35, 0.75],
      "@cf/openai/gpt-oss-20b": [128_000, 16_384, 0.2, 0.2, 0.3],
      "@cf/zai-org/glm-5.3": [1_048_576, 131_072, 1.4, 0.26, 4.4],
      "@cf/qwen/qwen3-30b-a3b-fp8": [32_768, 32_768, 0.051, 0.051, 0.335],
    },
  },
];
