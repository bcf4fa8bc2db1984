import type { Price } from "../protocol/team";
import { UNKNOWN_HOST } from "./hosts";
import { MODEL_GROUPS, type ModelGroup, type Row } from "./model-rows";

/** Windows, output caps and list prices of known models, by host and model: others sell the same names dearer. */

export type ModelFacts = {
  /** Tokens, input and output together. */
  contextWindow: number;
  maxOutputTokens: number;
  /** US dollars per million tokens; null: unknown, so that a run can only be capped in tokens. */
  price: Price | null;
  /** The day the price was the list price. */
  pricedAt: string | null;
};

/** What is assumed of a model nobody listed: the smallest window and output of the models in use today. */
export const UNKNOWN_MODEL: ModelFacts = {
  contextWindow: 128_000,
  maxOutputTokens: 16_384,
  price: null,
  pricedAt: null,
};

/** The date behind a model's name. */
export const DATED = /-(\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Facts by the exact id, or by the id without its date; never by a part of a name, which finds the wrong price. The window and
 * the output cap belong to the model, wherever it runs; the price belongs to the host. At an endpoint nobody knows, a model that
 * only its maker sells has the maker's price: what stands there is a proxy.
 */
export function modelFacts(model: string, host = UNKNOWN_HOST.id): ModelFacts {
  return factsOf(model, host) ?? factsOf(model.replace(DATED, ""), host) ?? UNKNOWN_MODEL;
}

/** Whether any host lists this model. */
export const isListed = (model: string): boolean => modelFacts(model) !== UNKNOWN_MODEL;

/** Ids of the models that are listed for a host; none for a host whose models nobody listed. */
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

/** How the names of a maker's models begin, and the backend type that asks the maker for them. Data only. */
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

/** Patterns of the names that lead to one of these types. */
export const modelNamesOf = (types: readonly string[]): string[] =>
  FAMILIES.filter(([, type]) => types.includes(type)).map(([names]) => names.source);

/** The backend type by which a bare model id is asked; null if its name does not tell (open models are sold by many). */
export const typeOfModel = (model: string): string | null =>
  FAMILIES.find(([names]) => names.test(model))?.[1] ?? null;
