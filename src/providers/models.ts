import type { Price } from "../protocol/team";
import { UNKNOWN_HOST } from "./hosts";
import { MODEL_GROUPS, type ModelGroup, type Row } from "./model-rows";

/**
 * Context windows, output limits and list prices of known models, by host and model. The host
 * matters because hosts charge different prices for the same model.
 */

export type ModelFacts = {
  /** Maximum of input and output tokens together. */
  contextWindow: number;
  maxOutputTokens: number;
  /** US dollars per million tokens. `null` if unknown; such a run can be capped only in tokens. */
  price: Price | null;
  /** The day on which the price was read; `null` without a price. */
  pricedAt: string | null;
};

/** Defaults for a model that is not listed: the smallest window and output of current models. */
export const UNKNOWN_MODEL: ModelFacts = {
  contextWindow: 128_000,
  maxOutputTokens: 16_384,
  price: null,
  pricedAt: null,
};

/** The date at the end of a model name. */
export const DATED = /-(\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Facts about the model with this id, or with this id without its date. An id is never matched by a
 * prefix, because that would find wrong prices. The window and the output limit depend only on the
 * model; the price depends on the host. An unknown host counts as a proxy: if only the maker sells
 * a model, the price of the maker applies there.
 */
export function modelFacts(model: string, host = UNKNOWN_HOST.id): ModelFacts {
  return factsOf(model, host) ?? factsOf(model.replace(DATED, ""), host) ?? UNKNOWN_MODEL;
}

/** Whether any host lists this model. */
export const isListed = (model: string): boolean => modelFacts(model) !== UNKNOWN_MODEL;

/** Ids of the models that are listed for a host. */
export const modelsOf = (host: string): string[] =>
  MODEL_GROUPS.filter((group) => group.host === host).flatMap(({ rows }) => Object.keys(rows));

function factsOf(id: string, host: string): ModelFacts | null {
  const listsModel = ({ rows }: ModelGroup) => Object.hasOwn(rows, id);
  const hostGroup = MODEL_GROUPS.find((group) => group.host === host && listsModel(group));
  const group = hostGroup ?? MODEL_GROUPS.find(listsModel);
  const row = group?.rows[id];
  if (!group || !row) return null;
  const isPriced = hostGroup !== undefined || (group.closed && host === UNKNOWN_HOST.id);
  const [contextWindow, maxOutputTokens] = row;
  if (!isPriced) return { contextWindow, maxOutputTokens, price: null, pricedAt: null };
  return {
    contextWindow,
    maxOutputTokens,
    price: toPrice(row, group.sound?.[id]),
    pricedAt: group.pricedAt,
  };
}

function toPrice(
  [, , input, cached_input, output, cache_write, longPrompt]: Row,
  sound: number | undefined,
): Price {
  const rates = { input, cached_input, ...(cache_write == null ? {} : { cache_write }), output };
  const basePrice = { ...rates, ...(sound !== undefined && { sound }) };
  if (!longPrompt) return basePrice;
  const { above, input: inputTimes, output: outputTimes } = longPrompt;
  return {
    ...basePrice,
    long_prompt: {
      above,
      input: input * inputTimes,
      cached_input: cached_input * inputTimes,
      ...(cache_write == null ? {} : { cache_write: cache_write * inputTimes }),
      output: output * outputTimes,
    },
  };
}

/** Prefixes of a maker's model names, and the backend type of that maker. */
const MODEL_FAMILIES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^(gpt-(?!oss)|chatgpt-|o\d)/, "openai"],
  [/^claude-/, "claude"],
  [/^gemini-/, "gemini"],
  [/^grok-/, "grok"],
  [/^deepseek-/, "deepseek"],
  [/^glm-/, "zai"],
  [/^(kimi|moonshot)-/, "moonshot"],
  [/^qwen[\d-]/, "qwen"],
  [/^(mistral|magistral|ministral|codestral|devstral)-/, "mistral"],
  [/^accounts\/fireworks\//, "fireworks"],
  [/^@cf\//, "workers_ai"],
];

/** Patterns of the model names that select one of these backend types. */
export const modelNamesOf = (types: readonly string[]): string[] =>
  MODEL_FAMILIES.filter(([, type]) => types.includes(type)).map(([pattern]) => pattern.source);

/**
 * The backend type for a model id without a backend type. `null` if the name does not identify a
 * maker. For example, many hosts sell the same open model.
 */
export const typeOfModel = (model: string): string | null =>
  MODEL_FAMILIES.find(([pattern]) => pattern.test(model))?.[1] ?? null;
