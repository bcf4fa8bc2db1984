import type { FormatParams } from "../param-types";

const SHORT_TEXT = { type: "text" } as const;
const MAX_SEED = Number.MAX_SAFE_INTEGER;

/** Parameters of Chat Completions, including extensions of compatible servers. */
export const PARAMS: FormatParams = {
  kinds: {
    temperature: { type: "number", min: 0, max: 2 },
    top_p: { type: "number", min: 0, max: 1 },
    top_k: { type: "integer", min: 0, max: 1_000_000 },
    min_p: { type: "number", min: 0, max: 1 },
    presence_penalty: { type: "number", min: -2, max: 2 },
    frequency_penalty: { type: "number", min: -2, max: 2 },
    repetition_penalty: { type: "number", min: 0, max: 10 },
    seed: { type: "integer", min: -MAX_SEED, max: MAX_SEED },
    stop: { type: "texts" },
    logit_bias: { type: "mapping" },
    reasoning_effort: {
      type: "words",
      words: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
    },
    verbosity: { type: "words", words: ["low", "medium", "high"] },
    parallel_tool_calls: { type: "flag" },
    service_tier: SHORT_TEXT,
    user: SHORT_TEXT,
    prompt_cache_key: SHORT_TEXT,
    chat_template_kwargs: { type: "mapping" },
    separate_reasoning: { type: "flag" },
  },
  outputCaps: ["max_tokens", "max_completion_tokens"],
  reserved: [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "n",
    "functions",
    "function_call",
  ],
  foreign: {
    reasoning: "use `reasoning_effort`",
    text: "use `verbosity`",
    model_reasoning_effort: "use `reasoning_effort`",
    max_output_tokens: "use `max_tokens`",
    max_thinking_tokens: "use `reasoning_effort`",
    thinking: "use `reasoning_effort`, or the provider's own parameter under `extra_body`",
    stop_sequences: "use `stop`",
  },
};
