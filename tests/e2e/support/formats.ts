import type { Format } from "../../../simulated/providers/dialect";
import type { SimulatedProviders } from "../../../simulated/providers/server";

export const FORMATS: readonly Format[] = [
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
];

/** The backend type of each format. */
const TYPES: Readonly<Record<Format, string>> = {
  "openai-chat": "chatcompletion",
  "openai-responses": "openai",
  anthropic: "claude",
  gemini: "gemini",
};

/**
 * Beginnings of model names, from which the service derives capabilities. Only the first cannot
 * reason.
 */
const MODELS: Readonly<Record<Format, string>> = {
  "openai-chat": "some-model",
  "openai-responses": "gpt-5.6",
  anthropic: "claude-sonnet-5-5",
  gemini: "gemini-3.8-flash",
};

/** The name of a model of this format. */
export const modelOf = (format: Format, name: string): string => `${MODELS[format]}-${name}`;

/** The backend in the config of an agent with this format. */
export const backendOf = (
  format: Format,
  { baseUrls }: SimulatedProviders,
): Record<string, unknown> => ({
  type: TYPES[format],
  base_url: baseUrls[format],
});
