import { type FormatParams, NO_EQUIVALENT, type ParamProblem } from "../param-types";
import { disablesThinking, thinks, traitsOf } from "./thinking";

type Params = Readonly<Record<string, unknown>>;

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const SAMPLING = ["temperature", "top_p", "top_k"];
const THINKING = ["thinking", "reasoning", "reasoning_effort", "max_thinking_tokens"];

/**
 * Parameters of the Messages API that a config may set. Thinking may be configured with the names
 * of the API or with the names of MassGen.
 */
export const PARAMS: FormatParams = {
  kinds: {
    temperature: { type: "number", min: 0, max: 1 },
    top_p: { type: "number", min: 0, max: 1 },
    top_k: { type: "integer", min: 0, max: 1_000_000 },
    stop: { type: "texts" },
    stop_sequences: { type: "texts" },
    thinking: { type: "mapping" },
    reasoning: { type: "mapping" },
    reasoning_effort: { type: "words", words: EFFORTS },
    max_thinking_tokens: { type: "integer", min: 0, max: 1_000_000 },
    output_config: { type: "mapping" },
    service_tier: { type: "words", words: ["auto", "standard_only"] },
    metadata: { type: "mapping" },
    betas: { type: "list" },
  },
  outputCaps: ["max_tokens"],
  reserved: [
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "max_tokens",
    "thinking",
    "output_config",
    "container",
    "thread",
    "cache_control",
    "betas",
    "mcp_servers",
  ],
  foreign: {
    max_output_tokens: "use `max_tokens`",
    max_completion_tokens: "use `max_tokens`",
    model_reasoning_effort: "use `reasoning_effort`",
    verbosity: NO_EQUIVALENT,
    text: NO_EQUIVALENT,
    seed: NO_EQUIVALENT,
    presence_penalty: NO_EQUIVALENT,
    frequency_penalty: NO_EQUIVALENT,
    parallel_tool_calls: "remove it: independent calls always run in parallel",
    safety_settings: NO_EQUIVALENT,
  },
  check: (params, model) => [
    ...samplingProblems(params, model),
    ...thinkingProblems(params, model),
    ...listProblems(params),
  ],
  forcesTools: (params, model) => !thinks(params, model),
};

function samplingProblems(params: Params, model: string): ParamProblem[] {
  const { acceptsSampling, onlyOneSampling } = traitsOf(model);
  const setKeys = SAMPLING.filter((key) => params[key] !== undefined);
  if (!acceptsSampling)
    return setKeys.map((key) => ({
      key,
      detail: `${model} does not support \`${key}\`: remove it`,
    }));
  if (thinks(params, model))
    return setKeys.flatMap((key) => samplingProblemsWithThinking(key, params[key]));
  if (!onlyOneSampling || !setKeys.includes("temperature") || !setKeys.includes("top_p")) return [];
  return [
    {
      key: "top_p",
      detail: `${model} supports either \`temperature\` or \`top_p\`: remove one of them`,
    },
  ];
}

function samplingProblemsWithThinking(key: string, value: unknown): ParamProblem[] {
  if (key === "temperature" && value === 1) return [];
  if (key === "top_p" && typeof value === "number" && value >= 0.95) return [];
  const change = key === "top_p" ? "set it to 0.95 or more" : "remove it";
  return [
    {
      key,
      detail: `with thinking, the model does not support this \`${key}\`: ${change}, or switch thinking off`,
    },
  ];
}

function thinkingProblems(params: Params, model: string): ParamProblem[] {
  const key = THINKING.find((name) => params[name] !== undefined);
  if (key === undefined || !traitsOf(model).alwaysThinks || !disablesThinking(params)) return [];
  return [
    {
      key,
      detail: `${model} always thinks: remove it, or write \`reasoning_effort: low\``,
    },
  ];
}

/**
 * Name of a beta. The names are sent in a header, so only characters that are safe there are
 * allowed.
 */
const BETA = /^[a-z0-9][a-z0-9._-]{0,99}$/i;

function listProblems(params: Params): ParamProblem[] {
  const lists = [
    {
      key: "betas",
      isValid: isBeta,
      detail: "each entry must be the name of a beta, such as `files-api-2025-04-14`",
    },
    { key: "stop", isValid: isText, detail: "each entry must be a text that is not blank" },
    {
      key: "stop_sequences",
      isValid: isText,
      detail: "each entry must be a text that is not blank",
    },
  ];
  return lists.flatMap(({ key, isValid, detail }) => {
    const list = params[key];
    return Array.isArray(list) && !list.every(isValid) ? [{ key, detail }] : [];
  });
}

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

/** Whether a value is a beta name that is safe in a header. */
export const isBeta = (value: unknown): value is string =>
  typeof value === "string" && BETA.test(value);
