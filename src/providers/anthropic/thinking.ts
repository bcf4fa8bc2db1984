import { isJsonObject } from "../json";
import { fieldsOf, textOf } from "./schema";

/**
 * Converts the thinking settings of a config, in all spellings, to fields that the model accepts.
 * Pure.
 */

type Params = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;

/** `on` is `null` if not set. `effort` is "" and `budget` is 0 if no amount is set. */
type ThinkingSettings = { on: boolean | null; effort: string; budget: number; display: unknown };

/** The API accepts no smaller budget. */
const LEAST_BUDGET = 1_024;
/** Budget if a config enables thinking without an amount; MassGen's own default. */
const USUAL_BUDGET = 8_000;
/** Our own mapping between efforts and budgets; neither API documents one. */
const BUDGETS: Readonly<Record<string, number>> = {
  low: 4_000,
  medium: 10_000,
  high: 24_000,
  xhigh: 32_000,
  max: 48_000,
};

/**
 * Drops earlier thinking that no longer fits its conversation, instead of an error: an update or
 * other tools may precede it.
 */
const DROP_UNFITTING = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
const DROP_UNFITTING_BETA = "thinking-binding-controls-2026-08-01";

/** The request fields `thinking` and `output_config`. `maxTokens` includes thinking. */
export function thinkingFields(params: Params, model: string, maxTokens: number): Body {
  const settings = thinkingSettings(params);
  const traits = traitsOf(model);
  const { thinking, effort } = isActive(settings, traits)
    ? active(settings, traits, maxTokens)
    : inactive(traits);
  const output = { ...fieldsOf(params["output_config"]), ...(effort !== "" && { effort }) };
  return {
    ...(thinking && { thinking }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
  };
}

/**
 * Whether the model thinks with these parameters. If so, the API refuses to force a tool and fixes
 * the sampling.
 */
export const thinks = (params: Params, model: string): boolean =>
  isActive(thinkingSettings(params), traitsOf(model));

/** Whether the config disables thinking. */
export const refusesThinking = (params: Params): boolean => thinkingSettings(params).on === false;

/** The betas that the thinking fields need. */
export const thinkingBetas = (params: Params, model: string): readonly string[] =>
  traitsOf(model).bound && thinks(params, model) ? [DROP_UNFITTING_BETA] : [];

const isActive = (settings: ThinkingSettings, traits: Traits): boolean =>
  traits.always || (settings.on ?? traits.byDefault);

type ThinkingChoice = { thinking: Body | null; effort: string };

function active(settings: ThinkingSettings, traits: Traits, maxTokens: number): ThinkingChoice {
  const byBudget =
    traits.thinking === "budget" ||
    (traits.thinking === "either" && settings.budget > 0 && settings.effort === "");
  if (byBudget) return { thinking: budgeted(settings, maxTokens), effort: "" };
  // These models hide their thinking by default. People watch a run, and a silent minute looks as
  // if it hangs.
  const display = settings.display ?? (traits.thinking === "adaptive" ? "summarized" : undefined);
  const thinking = {
    type: "adaptive",
    ...(display !== undefined && { display }),
    ...(traits.bound && DROP_UNFITTING),
  };
  if (settings.on === false) return { thinking, effort: "low" };
  return { thinking, effort: settings.effort || effortFor(settings.budget) };
}

const inactive = (traits: Traits): ThinkingChoice => ({
  thinking: traits.byDefault ? { type: "disabled" } : null,
  effort: "",
});

/**
 * Keeps at least a quarter of the reply for output. A reply too short for the smallest budget is
 * written without thinking.
 */
function budgeted({ budget, effort, display }: ThinkingSettings, maxTokens: number): Body | null {
  const most = Math.floor((maxTokens * 3) / 4);
  if (most < LEAST_BUDGET) return null;
  const wanted = budget || BUDGETS[effort] || USUAL_BUDGET;
  const budget_tokens = Math.min(Math.max(wanted, LEAST_BUDGET), most);
  return { type: "enabled", budget_tokens, ...(display !== undefined && { display }) };
}

/** "" for no budget: the model's own default. */
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
  const budget = budgets.find((one) => typeof one === "number");
  const display = thinking["display"] ?? undefined;
  if (types.includes("disabled") || effort === "none" || budget === 0)
    return { on: false, effort: "", budget: 0, display };
  const said =
    effort !== "" ||
    budget !== undefined ||
    isJsonObject(params["thinking"]) ||
    types[1] !== undefined;
  return {
    on: said ? true : null,
    effort: effort === "minimal" ? "low" : effort,
    budget: budget ?? 0,
    display,
  };
}

/**
 * Features of the Claude generations, derived from the model name: how they think and which
 * parameters they refuse. An unknown name counts as an early model, because servers with other
 * models implement the early form of this API.
 */

type Traits = {
  /**
   * `budget`: a number of tokens; `adaptive`: the model decides, steered by an effort; `either`:
   * both are accepted.
   */
  thinking: "budget" | "either" | "adaptive";
  /** Thinks if the request does not mention thinking. */
  byDefault: boolean;
  /**
   * Thinking cannot be disabled, at least between tool calls, and forcing a tool call is refused.
   */
  always: boolean;
  /** Accepts temperature, top_p and top_k. */
  sampling: boolean;
  /** Accepts only one of temperature and top_p. */
  oneSampling: boolean;
  /** Refuses its earlier thinking if any content before it has changed. */
  bound: boolean;
};

const EARLY: Traits = {
  thinking: "budget",
  byDefault: false,
  always: false,
  sampling: true,
  oneSampling: false,
  bound: false,
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
  const always =
    family === "fable" || family === "mythos" || (family !== "haiku" && version >= 505);
  const adaptive = always || version >= 407;
  return {
    thinking: adaptive ? "adaptive" : version === 406 ? "either" : "budget",
    byDefault: always || version >= 500,
    always,
    sampling: !adaptive,
    oneSampling: version >= 401,
    bound: version >= (family === "fable" || family === "mythos" ? 501 : 505),
  };
}
