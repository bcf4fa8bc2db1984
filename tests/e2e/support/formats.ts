import type { Format } from "../../../simulated/providers/dialect";
import type { SimulatedProviders } from "../../../simulated/providers/server";

export const FORMATS: readonly Format[] = [
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
];

/** What a config says to be served in a format. */
const TYPES: Readonly<Record<Format, string>> = {
  "openai-chat": "chatcompletion",
  "openai-responses": "openai",
  anthropic: "claude",
  gemini: "gemini",
};

/** Names of which adapters know what these models can do: all but the first think. */
const MODELS: Readonly<Record<Format, string>> = {
  "openai-chat": "some-model",
  "openai-responses": "gpt-5.6",
  anthropic: "claude-sonnet-5-5",
  gemini: "gemini-3.8-flash",
};

/** A model of a format that nothing else is called like. */
export const modelOf = (format: Format, name: string): string => `${MODELS[format]}-${name}`;

/** The backend of an agent served in this format. */
export const backendOf = (
  format: Format,
  { baseUrls }: SimulatedProviders,
): Record<string, unknown> => ({
  type: TYPES[format],
  base_url: baseUrls[format],
});
