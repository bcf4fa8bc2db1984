import type { Price } from "../protocol/team";
import { UNKNOWN_HOST } from "./hosts";
import { MODEL_GROUPS, type ModelGroup, type Row } from "./model-rows";

/**
 * Context windows, output limits and list prices of known models, by host and model: hosts charge
 * different prices for the same model.
 */

export type ModelFacts = {
  /** Input and output tokens together. */
  contextWindow: number;
  maxOutputTokens: number;
  /** US dollars per million tokens. `null` if unknown; then a run can be capped in tokens only. */
  price: Price | null;
  /** The day on which the price was read. */
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
 * Facts by the exact id, or by the id without its date. Never by a prefix, which would find a wrong
 * price. Window and output limit depend on the model, the price on the host. At an unknown host, a
 * model that only its maker sells has the maker's price: the host is a proxy.
 */
export function modelFacts(model: string, host = UNKNOWN_HOST.id): ModelFacts {
  return factsOf(model, host) ?? factsOf(model.replace(DATED, ""), host) ?? UNKNOWN_MODEL;
}

/** Whether any host lists this model. */
export const isListed = (model: string): boolean => modelFacts(model) !== UNKNOWN_MODEL;

/** Ids of the models that are listed for a host. Empty if none are. */
export const modelsOf = (host: string): string[] =>
  MODEL_GROUPS.filter((group) => group.host === host).flatMap(({ rows }) => Object.keys(rows));

function factsOf(id: string, host: string): ModelFacts | null {
  const holds = ({ rows }: ModelGroup) => Object.hasOwn(rows, id);
  const here = MODEL_GROUPS.find((group) => group.host === host && holds(group));
  const group = here ?? MODEL_GROUPS.find(holds);
  const row = group?.rows[id];
  if (!group || !row) return null;
  const isPriced = here !== undefined || (group.closed && host === UNKNOWN_HOST.id);
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
  [, , input, cached_input, output, cache_write, long]: Row,
  sound: number | undefined,
): Price {
  const rates = { input, cached_input, ...(cache_write == null ? {} : { cache_write }), output };
  const short = { ...rates, ...(sound !== undefined && { sound }) };
  if (!long) return short;
  const { above, input: inputTimes, output: outputTimes } = long;
  return {
    ...short,
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
const FAMILIES: readonly (readonly [names: RegExp, type: string])[] = [
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

/** Patterns of the model names that select one of these types. */
export const modelNamesOf = (types: readonly string[]): string[] =>
  FAMILIES.filter(([, type]) => types.includes(type)).map(([names]) => names.source);

/**
 * The backend type for a bare model id. `null` if the name does not identify a maker, as for open
 * models that many hosts sell.
 */
export const typeOfModel = (model: string): string | null =>
  FAMILIES.find(([names]) => names.test(model))?.[1] ?? null;
