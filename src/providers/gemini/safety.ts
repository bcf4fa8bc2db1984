import { isJsonObject } from "../json";
import type { ParamProblem } from "../param-types";

/**
 * `safety_settings` of a config: a list of {category, threshold}, or a mapping from category to
 * threshold.
 */

const CATEGORIES = [
  "HARM_CATEGORY_HARASSMENT",
  "HARM_CATEGORY_HATE_SPEECH",
  "HARM_CATEGORY_SEXUALLY_EXPLICIT",
  "HARM_CATEGORY_DANGEROUS_CONTENT",
  "HARM_CATEGORY_CIVIC_INTEGRITY",
] as const;
const THRESHOLDS = [
  "BLOCK_NONE",
  "BLOCK_ONLY_HIGH",
  "BLOCK_MEDIUM_AND_ABOVE",
  "BLOCK_LOW_AND_ABOVE",
  "OFF",
] as const;

type Safety = {
  category: (typeof CATEGORIES)[number];
  threshold: (typeof THRESHOLDS)[number];
};

const KEY = "safety_settings";

/**
 * The valid settings with their full names. Invalid settings are omitted here and reported by
 * `safetyProblems`.
 */
export function toSafety(value: unknown): Safety[] {
  return settingsOf(value).flatMap(({ category, threshold }) => {
    const safety = { category: findCategory(category), threshold: findThreshold(threshold) };
    return safety.category && safety.threshold
      ? [{ category: safety.category, threshold: safety.threshold }]
      : [];
  });
}

/** The problems of the settings. */
export function safetyProblems(value: unknown): ParamProblem[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) && !isJsonObject(value))
    return [
      problem("must be a list of {category, threshold}, or a mapping of categories to thresholds"),
    ];
  const seen = new Set<string>();
  return settingsOf(value).flatMap(({ category, threshold }) => {
    const knownCategory = findCategory(category);
    if (!knownCategory)
      return [problem(`no category ${inMessage(category)}; categories: ${CATEGORIES.join(", ")}`)];
    if (seen.has(knownCategory)) return [problem(`the category ${knownCategory} is repeated`)];
    seen.add(knownCategory);
    return findThreshold(threshold)
      ? []
      : [problem(`no threshold ${inMessage(threshold)}; thresholds: ${THRESHOLDS.join(", ")}`)];
  });
}

const problem = (detail: string): ParamProblem => ({ key: KEY, detail: `${detail}.` });

const inMessage = (value: unknown): string =>
  typeof value === "string" ? `\`${value}\`` : "of that type";

function settingsOf(value: unknown): { category: unknown; threshold: unknown }[] {
  if (Array.isArray(value)) {
    return value.map((entry) =>
      isJsonObject(entry)
        ? { category: entry["category"], threshold: entry["threshold"] }
        : NO_SETTING,
    );
  }
  return isJsonObject(value)
    ? Object.entries(value).map(([category, threshold]) => ({ category, threshold }))
    : [];
}

const NO_SETTING = { category: undefined, threshold: undefined };

/** The category with this name, in any case. The prefix `HARM_CATEGORY_` is optional. */
function findCategory(value: unknown): Safety["category"] | undefined {
  if (typeof value !== "string") return undefined;
  const name = value.toUpperCase();
  return CATEGORIES.find((category) => category === name || category === `HARM_CATEGORY_${name}`);
}

function findThreshold(value: unknown): Safety["threshold"] | undefined {
  return typeof value === "string"
    ? THRESHOLDS.find((threshold) => threshold === value.toUpperCase())
    : undefined;
}
