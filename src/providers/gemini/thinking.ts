import { isJsonObject } from "../json";
import type { ParamProblem } from "../param-types";

/** Converts the thinking settings of a config to fields that the model's generation accepts. */

type Params = Readonly<Record<string, unknown>>;
type Level = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";
export type Thinking = {
  includeThoughts?: boolean;
  thinkingBudget?: number;
  thinkingLevel?: Level;
};

export const THINKING_LEVELS = ["minimal", "low", "medium", "high"] as const;
export const EFFORTS = ["none", ...THINKING_LEVELS, "xhigh"] as const;
export const MAX_BUDGET = 65_536;

/**
 * Budgets in tokens, for the generation without levels. Its smaller models allow at most the
 * largest of these.
 */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
};
/** Its largest model has another minimum and maximum. */
const PRO_BUDGETS: Readonly<Record<string, number>> = { ...BUDGETS, none: 128, xhigh: 32_768 };

const LEVELS: Readonly<Record<string, Level>> = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
};
/**
 * The largest models, and all models from WITHOUT_MINIMAL on, have `LOW` as their lowest level. The
 * first of them have nothing between `LOW` and `HIGH`.
 */
const FROM_LOW: Readonly<Record<string, Level>> = { ...LEVELS, none: "LOW", minimal: "LOW" };
const LOW_OR_HIGH: Readonly<Record<string, Level>> = { ...FROM_LOW, medium: "HIGH" };
const WITHOUT_MINIMAL = 3.7;

/**
 * The thinking fields of a request. `null`: send none, because a model that cannot think refuses
 * them.
 */
export function toThinking(params: Params, model: string): Thinking | null {
  const thinking = { ...asked(params, model) };
  const wants = Object.keys(thinking).length > 0;
  const kind = thinkingOf(model);
  // Summaries are refused if thinking is off, which is the default of the smallest model of its
  // generation.
  const thinks = kind === "level" || (kind === "budget" && (wants || !model.includes("-lite")));
  if (thinks && thinking.thinkingBudget !== 0) return { includeThoughts: true, ...thinking };
  return wants ? thinking : null;
}

function asked(params: Params, model: string): Thinking {
  const { budget, words } = readSettings(params);
  if (budget !== undefined) return { thinkingBudget: budget };
  const word = words[0]?.word;
  if (word === undefined) return {};
  if (thinkingOf(model) === "budget") {
    const thinkingBudget = (isPro(model) ? PRO_BUDGETS : BUDGETS)[word];
    return thinkingBudget === undefined ? {} : { thinkingBudget };
  }
  const thinkingLevel = levelsOf(model)[word];
  return thinkingLevel === undefined ? {} : { thinkingLevel };
}

const isPro = (model: string): boolean => /-pro\b/.test(model);

function levelsOf(model: string): Readonly<Record<string, Level>> {
  if (/gemini-3-pro\b/.test(model)) return LOW_OR_HIGH;
  return isPro(model) || (generationOf(model) ?? 0) >= WITHOUT_MINIMAL ? FROM_LOW : LEVELS;
}

/**
 * Thinking parameters that contradict each other, are malformed, or are not supported by the model.
 */
export function thinkingProblems(params: Params, model: string): ParamProblem[] {
  const { budget, words } = readSettings(params);
  const keys = [
    ...(budget === undefined ? [] : [budgetKey(params)]),
    ...words.map(({ key }) => key),
  ];
  const [first, second] = keys;
  if (first === undefined) return reasoningProblems(params);
  if (second !== undefined) {
    return [
      {
        key: second,
        detail: `\`${first}\` already sets how much the model thinks: keep only one of the two.`,
      },
    ];
  }
  if (thinkingOf(model) === "none")
    return [
      { key: first, detail: `\`${model}\` does not think: remove it, or use a newer model.` },
    ];
  return reasoningProblems(params);
}

function reasoningProblems(params: Params): ParamProblem[] {
  const reasoning = params["reasoning"];
  if (!isJsonObject(reasoning)) return [];
  const { effort, budget_tokens } = reasoning;
  const problems: string[] = [];
  for (const key of Object.keys(reasoning)) {
    if (!["effort", "budget_tokens", "type", "summary"].includes(key))
      problems.push(`unknown key \`${key}\`.`);
  }
  if (effort !== undefined && !isEffort(effort))
    problems.push(`\`effort\` must be one of ${EFFORTS.join(", ")}.`);
  if (budget_tokens !== undefined && !isBudget(budget_tokens)) {
    problems.push(
      `\`budget_tokens\` must be a whole number from -1 (the model decides) to ${MAX_BUDGET}.`,
    );
  }
  return problems.map((detail) => ({ key: "reasoning", detail }));
}

type ThinkingSettings = { budget: number | undefined; words: { key: string; word: string }[] };

function readSettings(params: Params): ThinkingSettings {
  const reasoning = isJsonObject(params["reasoning"]) ? params["reasoning"] : {};
  const budgets = [params["thinking_budget"], reasoning["budget_tokens"]].filter(isBudget);
  const words = [
    { key: "thinking_level", word: params["thinking_level"] },
    { key: "reasoning_effort", word: params["reasoning_effort"] },
    { key: "reasoning", word: reasoning["effort"] },
  ].flatMap(({ key, word }) => (isEffort(word) ? [{ key, word }] : []));
  return { budget: budgets[0], words };
}

const budgetKey = (params: Params): string =>
  isBudget(params["thinking_budget"]) ? "thinking_budget" : "reasoning";

const isEffort = (value: unknown): value is string =>
  typeof value === "string" && EFFORTS.some((effort) => effort === value);

const isBudget = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= -1 && value <= MAX_BUDGET;

/**
 * Derives the generation from a model name. Generations differ in how they think and which features
 * a request may combine.
 */

const NUMBERED = /^(?:models\/)?gemini-(\d+(?:\.\d+)?)(?:-|$)/;
const NEWEST = /^(?:models\/)?gemini-(?:pro|flash|flash-lite)-latest$/;
const WITHOUT_GENERATION = /^(?:models\/)?(?:gemma|learnlm)-/;

/** The first generation that thinks before it replies. */
const THINKING = 2.5;
/** The first generation that thinks by levels and accepts hosted tools together with functions. */
const BY_LEVEL = 3;

/**
 * The generation in a model name. `Infinity` for a name that always means the newest; `null` if the
 * name contains none.
 */
function generationOf(model: string): number | null {
  if (NEWEST.test(model)) return Number.POSITIVE_INFINITY;
  if (WITHOUT_GENERATION.test(model)) return 0;
  const stated = NUMBERED.exec(model)?.[1];
  return stated === undefined ? null : Number(stated);
}

/**
 * Whether hosted tools may be combined with functions. Older models refuse the request. A name
 * without a generation counts as new; if that is wrong, the provider's error is shown.
 */
export const canCombineHosted = (model: string): boolean =>
  (generationOf(model) ?? BY_LEVEL) >= BY_LEVEL;

/** The form of the model's thinking setting; `null` if the name does not identify it. */
function thinkingOf(model: string): "level" | "budget" | "none" | null {
  const generation = generationOf(model);
  if (generation === null) return null;
  if (generation < THINKING || /-(?:tts|image)\b/.test(model)) return "none";
  return generation >= BY_LEVEL ? "level" : "budget";
}

/**
 * Charged uses of web search: newer models charge per query, older ones per request with a search.
 */
export function chargedSearches(model: string, queries: number): number {
  const generation = generationOf(model);
  return generation !== null && generation < BY_LEVEL ? Math.min(queries, 1) : queries;
}
