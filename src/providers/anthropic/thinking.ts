import { isJsonObject } from "../json";
import { fieldsOf, textOf } from "./schema";

/**
 * Converts the thinking settings of a config to fields that the model accepts. The settings may
 * have the names of the API or the names of MassGen. Pure.
 */

type Params = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;

/**
 * `on` is `null` if the config does not set it. `effort` is "" and `budget` (in tokens) is 0 if the
 * config sets no amount.
 */
type ThinkingSettings = { on: boolean | null; effort: string; budget: number; display: unknown };

/** The API accepts no smaller budget. */
const MIN_BUDGET = 1_024;
/** Budget if a config enables thinking without an amount; MassGen's own default. */
const DEFAULT_BUDGET = 8_000;
/** Our own mapping between efforts and budgets; neither API documents one. */
const BUDGETS: Readonly<Record<string, number>> = {
  low: 4_000,
  medium: 10_000,
  high: 24_000,
  xhigh: 32_000,
  max: 48_000,
};

/**
 * With this field, the API drops earlier thinking that does not match the content before it,
 * instead of refusing the request. That content can change: an update may be inserted, or other
 * tools may be offered.
 */
const DROP_MISMATCHED = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
const DROP_MISMATCHED_BETA = "thinking-binding-controls-2026-08-01";

/**
 * The request fields `thinking` and `output_config`. `maxTokens` caps the output including
 * thinking.
 */
export function thinkingFields(params: Params, model: string, maxTokens: number): Body {
  const settings = thinkingSettings(params);
  const traits = traitsOf(model);
  const { thinking, effort } = isActive(settings, traits)
    ? activeThinking(settings, traits, maxTokens)
    : inactiveThinking(traits);
  const output = { ...fieldsOf(params["output_config"]), ...(effort !== "" && { effort }) };
  return {
    ...(thinking && { thinking }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
  };
}

/**
 * Whether the model thinks with these parameters. If so, the API refuses to force a tool call and
 * allows almost no sampling parameters.
 */
export const thinks = (params: Params, model: string): boolean =>
  isActive(thinkingSettings(params), traitsOf(model));

/** Whether the config disables thinking. */
export const disablesThinking = (params: Params): boolean => thinkingSettings(params).on === false;

/** The betas that the thinking fields need. */
export const thinkingBetas = (params: Params, model: string): readonly string[] =>
  traitsOf(model).isBoundToPrefix && thinks(params, model) ? [DROP_MISMATCHED_BETA] : [];

const isActive = (settings: ThinkingSettings, traits: Traits): boolean =>
  traits.alwaysThinks || (settings.on ?? traits.thinksByDefault);

type ThinkingChoice = { thinking: Body | null; effort: string };

function activeThinking(
  settings: ThinkingSettings,
  traits: Traits,
  maxTokens: number,
): ThinkingChoice {
  const usesBudget =
    traits.thinking === "budget" ||
    (traits.thinking === "either" && settings.budget > 0 && settings.effort === "");
  if (usesBudget) return { thinking: thinkingWithBudget(settings, maxTokens), effort: "" };
  // These models hide their thinking by default. Without summaries, a minute without output would
  // look to users as if the run hangs.
  const display = settings.display ?? (traits.thinking === "adaptive" ? "summarized" : undefined);
  const thinking = {
    type: "adaptive",
    ...(display !== undefined && { display }),
    ...(traits.isBoundToPrefix && DROP_MISMATCHED),
  };
  if (settings.on === false) return { thinking, effort: "low" };
  return { thinking, effort: settings.effort || effortFor(settings.budget) };
}

const inactiveThinking = (traits: Traits): ThinkingChoice => ({
  thinking: traits.thinksByDefault ? { type: "disabled" } : null,
  effort: "",
});

/**
 * Thinking with a budget of at most three quarters of the reply, so that at least a quarter is left
 * for the output. `null`, without thinking, if the reply is too short for the smallest budget.
 */
function thinkingWithBudget(
  { budget, effort, display }: ThinkingSettings,
  maxTokens: number,
): Body | null {
  const maxBudget = Math.floor((maxTokens * 3) / 4);
  if (maxBudget < MIN_BUDGET) return null;
  const requestedBudget = budget || BUDGETS[effort] || DEFAULT_BUDGET;
  const budget_tokens = Math.min(Math.max(requestedBudget, MIN_BUDGET), maxBudget);
  return { type: "enabled", budget_tokens, ...(display !== undefined && { display }) };
}

/**
 * The effort that corresponds to a budget. "" if no budget is set: the model uses its own default.
 */
function effortFor(budget: number): string {
  if (budget <= 0) return "";
  return Object.entries(BUDGETS).find(([, tokens]) => budget <= tokens)?.[0] ?? "max";
}

function thinkingSettings(params: Params): ThinkingSettings {
  const thinking = fieldsOf(params["thinking"]);
  const reasoning = fieldsOf(params["reasoning"]);
  const types = [thinking["type"], reasoning["type"]];
  const effort = textOf(params["reasoning_effort"]) || textOf(reasoning["effort"]);
  const budgets = [
    thinking["budget_tokens"],
    reasoning["budget_tokens"],
    params["max_thinking_tokens"],
  ];
  const budget = budgets.find((value) => typeof value === "number");
  const display = thinking["display"] ?? undefined;
  if (types.includes("disabled") || effort === "none" || budget === 0)
    return { on: false, effort: "", budget: 0, display };
  const isSet =
    effort !== "" ||
    budget !== undefined ||
    isJsonObject(params["thinking"]) ||
    types[1] !== undefined;
  return {
    on: isSet ? true : null,
    effort: effort === "minimal" ? "low" : effort,
    budget: budget ?? 0,
    display,
  };
}

/**
 * Features of the Claude generations, derived from the model name: how a model thinks and which
 * parameters it refuses. An unknown name counts as an early model, because servers with other
 * models implement the early form of this API.
 */

type Traits = {
  /**
   * How thinking is requested. `budget`: with a number of tokens. `adaptive`: with an effort, and
   * the model decides. `either`: both ways are accepted.
   */
  thinking: "budget" | "either" | "adaptive";
  /** Whether the model thinks if the request does not mention thinking. */
  thinksByDefault: boolean;
  /**
   * Whether thinking cannot be disabled, at least between tool calls, and forcing a tool call is
   * refused.
   */
  alwaysThinks: boolean;
  /** Whether the model accepts temperature, top_p and top_k. */
  acceptsSampling: boolean;
  /** Whether the model accepts only one of temperature and top_p. */
  onlyOneSampling: boolean;
  /** Whether the API refuses earlier thinking of the model if any content before it has changed. */
  isBoundToPrefix: boolean;
};

const EARLY: Traits = {
  thinking: "budget",
  thinksByDefault: false,
  alwaysThinks: false,
  acceptsSampling: true,
  onlyOneSampling: false,
  isBoundToPrefix: false,
};

const NAME =
  /(?:^|[^a-z0-9])claude-(?:(\d{1,2})(?:-(\d{1,2}))?-)?(opus|sonnet|haiku|fable|mythos)(?:-(\d{1,2})(?!\d))?(?:-(\d{1,2})(?!\d))?/i;

/** Traits by the model name; gateways may add a prefix or suffix to it. */
export function traitsOf(model: string): Traits {
  const match = NAME.exec(model.replaceAll(".", "-"));
  if (!match) return EARLY;
  const family = match[3]?.toLowerCase() ?? "";
  const version =
    Number(match[1] ?? match[4] ?? 0) * 100 +
    Number(match[1] === undefined ? (match[5] ?? 0) : (match[2] ?? 0));
  const alwaysThinks =
    family === "fable" || family === "mythos" || (family !== "haiku" && version >= 505);
  const isAdaptive = alwaysThinks || version >= 407;
  return {
    thinking: isAdaptive ? "adaptive" : version === 406 ? "either" : "budget",
    thinksByDefault: alwaysThinks || version >= 500,
    alwaysThinks,
    acceptsSampling: !isAdaptive,
    onlyOneSampling: version >= 401,
    isBoundToPrefix: version >= (family === "fable" || family === "mythos" ? 501 : 505),
  };
}
