/** How the names of a maker's models begin, and the backend type that asks the maker for them. Data only. */
const FAMILIES: readonly (readonly [names: RegExp, type: string])[] = [
  [/^(gpt-(?!oss)|chatgpt-|o\d)/, "openai"],
  [/^claude-/, "claude"],
  [/^gemini-/, "gemini"],
  [/^grok-/, "grok"],
  [/^deepseek-/, "deepseek"],
  [/^glm-/, "zai"],
  [/^(kimi|moonshot)-/, "moonshot"],
  [/^qwen[\d-]/, "qwen"],
  [/^(mistral|magistral|ministral|codestral|devstral)-/, "mistral"],
  [/^accounts\/fireworks\//, "fireworks"],
  [/^@cf\//, "workers_ai"],
];

/** Patterns of the names that lead to one of these types. */
export const modelNamesOf = (types: readonly string[]): string[] =>
  FAMILIES.filter(([, type]) => types.includes(type)).map(([names]) => names.source);

/** The backend type by which a bare model id is asked; null if its name does not tell (open models are sold by many). */
export const typeOfModel = (model: string): string | null =>
  FAMILIES.find(([names]) => names.test(model))?.[1] ?? null;
