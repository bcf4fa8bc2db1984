import { type FormatParams, NO_EQUIVALENT, type ParamProblem } from "../param-types";

const EFFORT = {
  type: "words",
  words: ["none", "minimal", "low", "medium", "high", "xhigh"],
} as const;
const TEXT = { type: "text" } as const;
const FLAG = { type: "flag" } as const;
const MAPPING = { type: "mapping" } as const;

/** Request fields that the service sets itself. Values in a config are ignored. */
export const RESERVED = [
  "model",
  "instructions",
  "input",
  "prompt",
  "conversation",
  "previous_response_id",
  "context_management",
  "tools",
  "tool_choice",
  "max_tool_calls",
  "max_turns",
  "include",
  "store",
  "background",
  "stream",
  "stream_options",
] as const;

/** Config names of the cap on output tokens. */
export const OUTPUT_CAPS = ["max_output_tokens", "max_tokens", "max_completion_tokens"] as const;

/** Parameters of the Responses API that a config may set. */
export const PARAMS: FormatParams = {
  kinds: {
    temperature: { type: "number", min: 0, max: 2 },
    top_p: { type: "number", min: 0, max: 1 },
    reasoning: MAPPING,
    reasoning_effort: EFFORT,
    model_reasoning_effort: EFFORT,
    text: MAPPING,
    verbosity: { type: "words", words: ["low", "medium", "high"] },
    service_tier: TEXT,
    truncation: { type: "words", words: ["auto", "disabled"] },
    parallel_tool_calls: FLAG,
    prompt_cache_key: TEXT,
    prompt_cache_retention: TEXT,
    safety_identifier: TEXT,
    user: TEXT,
    metadata: MAPPING,
  },
  outputCaps: OUTPUT_CAPS,
  reserved: RESERVED,
  foreign: {
    max_thinking_tokens: "use `reasoning_effort`",
    thinking: "use `reasoning_effort`",
    response_format: "use `text.format`",
    stop: NO_EQUIVALENT,
    stop_sequences: NO_EQUIVALENT,
    seed: NO_EQUIVALENT,
    top_k: NO_EQUIVALENT,
    presence_penalty: NO_EQUIVALENT,
    frequency_penalty: NO_EQUIVALENT,
  },
  check: refusedSampling,
};

/**
 * Names of models that always think. They refuse sampling parameters. Later models accept them if
 * thinking is off.
 */
const ALWAYS_THINKS = /^(o[134]|gpt-5)(-(mini|nano|pro|codex|preview))*(-\d{4}-\d{2}-\d{2})?$/;

function refusedSampling(params: Readonly<Record<string, unknown>>, model: string): ParamProblem[] {
  if (!ALWAYS_THINKS.test(model)) return [];
  return ["temperature", "top_p"]
    .filter((key) => params[key] !== undefined)
    .map((key) => ({
      key,
      detail: `${model} does not support it: remove it, or use a model that does not reason`,
    }));
}
