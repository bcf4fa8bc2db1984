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
 * Thinking budgets in tokens by effort, for generation 2.5, which has no levels. Its smaller models
 * allow at most 24,576.
 */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
};
/**
 * The same for the largest model of generation 2.5 (`-pro`), which has another minimum and maximum.
 */
const PRO_BUDGETS: Readonly<Record<string, number>> = { ...BUDGETS, none: 128, xhigh: 32_768 };

/** Levels by effort, for the generations that think by levels. */
const LEVELS: Readonly<Record<string, Level>> = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
};
/**
 * The largest models (`-pro`), and all models from generation 3.7 on, have `LOW` as their lowest
 * level. `gemini-3-pro` has only `LOW` and `HIGH`.
 */
const LOW_TO_HIGH: Readonly<Record<string, Level>> = { ...LEVELS, none: "LOW", minimal: "LOW" };
const LOW_OR_HIGH: Readonly<Record<string, Level>> = { ...LOW_TO_HIGH, medium: "HIGH" };
const FIRST_WITHOUT_MINIMAL = 3.7;

/**
 * The thinking fields of a request. `null` if none must be sent, because a model that cannot think
 * refuses them.
 */
export function toThinking(params: Params, model: string): Thinking | null {
  const thinking = { ...configuredThinking(params, model) };
  const isConfigured = Object.keys(thinking).length > 0;
  const kind = thinkingOf(model);
  // The API refuses a request for summaries if thinking is off. Off is the default of the smallest
  // model (`-lite`) with budgets.
  const thinks =
    kind === "level" || (kind === "budget" && (isConfigured || !model.includes("-lite")));
  if (thinks && thinking.thinkingBudget !== 0) return { includeThoughts: true, ...thinking };
  return isConfigured ? thinking : null;
}

function configuredThinking(params: Params, model: string): Thinking {
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
  return isPro(model) || (generationOf(model) ?? 0) >= FIRST_WITHOUT_MINIMAL ? LOW_TO_HIGH : LEVELS;
}

/**
 * The thinking parameters that contradict each other, are malformed, or are not supported by the
 * model.
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
 * Facts derived from the generation in a model name. Generations differ in how they think and in
 * which features a request may combine.
 */

const NUMBERED_NAME = /^(?:models\/)?gemini-(\d+(?:\.\d+)?)(?:-|$)/;
const NEWEST_NAME = /^(?:models\/)?gemini-(?:pro|flash|flash-lite)-latest$/;
const OTHER_FAMILY_NAME = /^(?:models\/)?(?:gemma|learnlm)-/;

/** The first generation that thinks before it replies. */
const FIRST_THINKING = 2.5;
/**
 * The first generation that thinks by levels. It is also the first that accepts hosted tools
 * together with functions.
 */
const FIRST_WITH_LEVELS = 3;

/**
 * The generation in a model name. `Infinity` for a name that always means the newest model, 0 for
 * models of other families, `null` if the name contains no generation.
 */
function generationOf(model: string): number | null {
  if (NEWEST_NAME.test(model)) return Number.POSITIVE_INFINITY;
  if (OTHER_FAMILY_NAME.test(model)) return 0;
  const generation = NUMBERED_NAME.exec(model)?.[1];
  return generation === undefined ? null : Number(generation);
}

/**
 * Whether hosted tools may be combined with functions. Older models refuse the request. A name
 * without a generation counts as new. If that is wrong, users see the error of the provider.
 */
export const canCombineHosted = (model: string): boolean =>
  (generationOf(model) ?? FIRST_WITH_LEVELS) >= FIRST_WITH_LEVELS;

/** How the thinking of the model is set; `null` if the name does not identify the generation. */
function thinkingOf(model: string): "level" | "budget" | "none" | null {
  const generation = generationOf(model);
  if (generation === null) return null;
  if (generation < FIRST_THINKING || /-(?:tts|image)\b/.test(model)) return "none";
  return generation >= FIRST_WITH_LEVELS ? "level" : "budget";
}

/**
 * The number of charged web searches. Newer models charge per query. Older models charge per
 * request that has at least one query.
 */
export function chargedSearches(model: string, queries: number): number {
  const generation = generationOf(model);
  return generation !== null && generation < FIRST_WITH_LEVELS ? Math.min(queries, 1) : queries;
}
