import { isJsonObject } from "../json";
import { type FormatParams, NO_EQUIVALENT } from "../param-types";
import {
  canCombineHosted,
  EFFORTS,
  MAX_BUDGET,
  THINKING_LEVELS,
  thinkingProblems,
} from "./thinking";
import { safetyProblems } from "./safety";

const inGenerationConfig = (name: string) => `use \`extra_body: {generationConfig: {${name}: …}}\``;
const THINKING = "use `thinking_level` or `thinking_budget`";

/**
 * Fields of `generationConfig` that the service sets itself. Users may write them in camel case or
 * snake case.
 */
export const RESERVED_GENERATION = ["maxOutputTokens", "candidateCount", "thinkingConfig"] as const;

/** Parameters of the Gemini API that a config may set. */
export const PARAMS: FormatParams = {
  kinds: {
    temperature: { type: "number", min: 0, max: 2 },
    top_p: { type: "number", min: 0, max: 1 },
    top_k: { type: "integer", min: 1, max: 1_000_000 },
    seed: { type: "integer", min: -2_147_483_648, max: 2_147_483_647 },
    stop: { type: "texts" },
    safety_settings: { type: "list_or_mapping" },
    thinking_budget: { type: "integer", min: -1, max: MAX_BUDGET },
    thinking_level: { type: "words", words: THINKING_LEVELS },
    reasoning_effort: { type: "words", words: EFFORTS },
    reasoning: { type: "mapping" },
    service_tier: { type: "words", words: ["standard", "flex", "priority"] },
  },
  outputCaps: ["max_tokens", "max_output_tokens"],
  reserved: [
    ...[
      "model",
      "contents",
      "tools",
      "toolConfig",
      "tool_config",
      "systemInstruction",
      "system_instruction",
    ],
    ...["cachedContent", "cached_content", "continuationToken", "continuation_token"],
  ],
  foreign: {
    max_completion_tokens: "use `max_output_tokens`",
    stop_sequences: "use `stop`",
    thinking: THINKING,
    thinking_config: THINKING,
    presence_penalty: inGenerationConfig("presencePenalty"),
    frequency_penalty: inGenerationConfig("frequencyPenalty"),
    response_mime_type: inGenerationConfig("responseMimeType"),
    response_schema: inGenerationConfig("responseJsonSchema"),
    response_format: inGenerationConfig("responseMimeType"),
    logit_bias: NO_EQUIVALENT,
    min_p: NO_EQUIVALENT,
    repetition_penalty: NO_EQUIVALENT,
    parallel_tool_calls: NO_EQUIVALENT,
    verbosity: NO_EQUIVALENT,
    text: NO_EQUIVALENT,
  },
  hostedAlone: (model) => (canCombineHosted(model) ? null : "gemini-3.8-flash"),
  check: (params, model) => [
    ...extraProblems(params["extra_body"]),
    ...stopProblems(params["stop"]),
    ...safetyProblems(params["safety_settings"]),
    ...thinkingProblems(params, model),
  ],
};

/** For each reserved field: what the user can do instead, or why no setting is needed. */
const ALTERNATIVES: Readonly<Record<(typeof RESERVED_GENERATION)[number], string>> = {
  maxOutputTokens: "use `max_output_tokens`",
  candidateCount: "each call returns one reply",
  thinkingConfig: THINKING,
};

function extraProblems(extra: unknown) {
  if (!isJsonObject(extra)) return [];
  const generations = [extra["generationConfig"], extra["generation_config"]].filter(isJsonObject);
  const names = new Set(generations.flatMap(Object.keys).map(toCamel));
  return RESERVED_GENERATION.filter((name) => names.has(name)).map((name) => {
    const detail = `the service sets \`generationConfig.${name}\` itself: ${ALTERNATIVES[name]}.`;
    return { key: "extra_body", detail };
  });
}

/** The camel-case form of a name. The provider accepts its field names in snake case too. */
export const toCamel = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const MAX_STOPS = 5;

function stopProblems(stop: unknown) {
  if (!Array.isArray(stop)) return [];
  const isValid =
    stop.length <= MAX_STOPS && stop.every((text) => typeof text === "string" && text !== "");
  return isValid
    ? []
    : [
        {
          key: "stop",
          detail: `must be a list of at most ${MAX_STOPS} texts, none of them empty.`,
        },
      ];
}
