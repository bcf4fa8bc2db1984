/** What a model's name tells of its generation: which differ in how they think, and in what they let requests combine. */

const NUMBERED = /^(?:models\/)?gemini-(\d+(?:\.\d+)?)(?:-|$)/;
const NEWEST = /^(?:models\/)?gemini-(?:pro|flash|flash-lite)-latest$/;
const WITHOUT_GENERATION = /^(?:models\/)?(?:gemma|learnlm)-/;

/** The first generation whose models think before they reply. */
const THINKING = 2.5;
/** The first one that thinks by levels, and runs hosted tools beside the caller's own. */
const BY_LEVEL = 3;

/** The generation a model's name states, `Infinity` for a name that always means the newest, null if the name states none. */
export function generationOf(model: string): number | null {
  if (NEWEST.test(model)) return Number.POSITIVE_INFINITY;
  if (WITHOUT_GENERATION.test(model)) return 0;
  const stated = NUMBERED.exec(model)?.[1];
  return stated === undefined ? null : Number(stated);
}

/**
 * Whether hosted tools may be offered together with tools of the caller's own. Older models refuse the request. A name that
 * states no generation gets the benefit of the doubt: the provider's own words come back if it was wrong.
 */
export const canCombineHosted = (model: string): boolean =>
  (generationOf(model) ?? BY_LEVEL) >= BY_LEVEL;

/** How the model is told how much to think; null where its name does not say. */
export function thinkingOf(model: string): "level" | "budget" | "none" | null {
  const generation = generationOf(model);
  if (generation === null) return null;
  if (generation < THINKING || /-(?:tts|image)\b/.test(model)) return "none";
  return generation >= BY_LEVEL ? "level" : "budget";
}

/** Charged uses of web search: newer models pay for each query, older ones for each request that searched. */
export function chargedSearches(model: string, queries: number): number {
  const generation = generationOf(model);
  return generation !== null && generation < BY_LEVEL ? Math.min(queries, 1) : queries;
}
