import type { Price } from "../protocol/team";

/** Windows, output caps and list prices of well-known models. Only vendors' own model ids: others sell the same names dearer. */

export type ModelFacts = {
  /** Tokens, input and output together. */
  contextWindow: number;
  maxOutputTokens: number;
  /** US dollars per million tokens; null: unknown, so that a run can only be capped in tokens. */
  price: Price | null;
  /** The day the price was the vendor's list price. */
  pricedAt: string | null;
};

/** What is assumed of a model nobody listed: the smallest window and output of the models in use today. */
export const UNKNOWN_MODEL: ModelFacts = { contextWindow: 128_000, maxOutputTokens: 16_384, price: null, pricedAt: null };

/** [window, most output, input, cached input, output] */
type Row = readonly [number, number, number, number, number];
const PRICED_AT = "2025-12-01";

const ROWS: Readonly<Record<string, Row>> = {
  "gpt-5": [400_000, 128_000, 1.25, 0.125, 10],
  "gpt-5-mini": [400_000, 128_000, 0.25, 0.025, 2],
  "gpt-5-nano": [400_000, 128_000, 0.05, 0.005, 0.4],
  "gpt-5-chat-latest": [128_000, 16_384, 1.25, 0.125, 10],
  "gpt-5.1": [400_000, 128_000, 1.25, 0.125, 10],
  "gpt-4.1": [1_047_576, 32_768, 2, 0.5, 8],
  "gpt-4.1-mini": [1_047_576, 32_768, 0.4, 0.1, 1.6],
  "gpt-4.1-nano": [1_047_576, 32_768, 0.1, 0.025, 0.4],
  "gpt-4o": [128_000, 16_384, 2.5, 1.25, 10],
  "gpt-4o-2024-05-13": [128_000, 4_096, 5, 5, 15],
  "gpt-4o-mini": [128_000, 16_384, 0.15, 0.075, 0.6],
  o1: [200_000, 100_000, 15, 7.5, 60],
  o3: [200_000, 100_000, 2, 0.5, 8],
  "o3-mini": [200_000, 100_000, 1.1, 0.55, 4.4],
  "o4-mini": [200_000, 100_000, 1.1, 0.275, 4.4],
  "gpt-4-turbo": [128_000, 4_096, 10, 10, 30],
  "gpt-3.5-turbo": [16_385, 4_096, 0.5, 0.5, 1.5],
  "deepseek-chat": [128_000, 8_192, 0.28, 0.028, 0.42],
  "deepseek-reasoner": [128_000, 65_536, 0.28, 0.028, 0.42],
  "grok-4": [256_000, 64_000, 3, 0.75, 15],
  "grok-3": [131_072, 16_384, 3, 0.75, 15],
  "grok-3-mini": [131_072, 16_384, 0.3, 0.075, 0.5],
  "glm-4.5": [128_000, 96_000, 0.6, 0.11, 2.2],
  "glm-4.6": [200_000, 128_000, 0.6, 0.11, 2.2],
  "kimi-k2-thinking": [262_144, 65_536, 0.6, 0.15, 2.5],
  "llama-3.3-70b-versatile": [131_072, 32_768, 0.59, 0.59, 0.79],
};

const DATED = /-\d{4}-\d{2}-\d{2}$/;

/** Facts by the exact id, or by the id without its `-YYYY-MM-DD`; never by a part of a name, which finds the wrong price. */
export function modelFacts(model: string): ModelFacts {
  const row = rowOf(model) ?? rowOf(model.replace(DATED, ""));
  if (!row) return UNKNOWN_MODEL;
  const [contextWindow, maxOutputTokens, input, cached_input, output] = row;
  return { contextWindow, maxOutputTokens, price: { input, cached_input, output }, pricedAt: PRICED_AT };
}

const rowOf = (id: string): Row | undefined => (Object.hasOwn(ROWS, id) ? ROWS[id] : undefined);
