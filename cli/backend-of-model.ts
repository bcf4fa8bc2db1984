/** How the names of a vendor's models begin, and the backend type that speaks to it. The service knows the models themselves. */
const TYPES: readonly [RegExp, string][] = [
  [/^(gpt-|chatgpt|o\d)/, "openai"],
  [/^claude/, "claude"],
  [/^gemini/, "gemini"],
  [/^grok/, "grok"],
  [/^glm-/, "zai"],
  [/^deepseek-/, "deepseek"],
  [/^(mistral-|magistral|codestral|ministral|pixtral)/, "mistral"],
  [/^(kimi|moonshot)/, "moonshot"],
  [/^qwen[\d-]/, "qwen"],
  [/^@cf\//, "workers_ai"],
];

export const BACKENDS: readonly string[] = TYPES.map(([, type]) => type);

/** The backend type a model is asked through, as far as its name tells; null where it does not. */
export const backendOfModel = (model: string): string | null =>
  TYPES.find(([beginning]) => beginning.test(model.toLowerCase()))?.[1] ?? null;
