import type { TeamRules } from "../../protocol/team";

/** Share of common words above which an answer is too similar to one its author has seen. */
const MAX_OVERLAP: Record<TeamRules["answer_novelty_requirement"], number> = {
  lenient: 1,
  balanced: 0.7,
  strict: 0.5,
};

type Novelty = "new" | "duplicate" | "too_similar";

/** Compares an answer with the answers its author has seen. */
export function novelty(
  content: string,
  shown: readonly string[],
  requirement: TeamRules["answer_novelty_requirement"],
): Novelty {
  const text = normalise(content);
  const others = shown.map(normalise);
  if (others.includes(text)) return "duplicate";
  const maxOverlap = MAX_OVERLAP[requirement];
  if (maxOverlap >= 1) return "new";
  const words = wordSet(text);
  return others.some((other) => overlap(words, wordSet(other)) > maxOverlap)
    ? "too_similar"
    : "new";
}

/** Paths of private workspaces. */
const WORKSPACES =
  /\/(?:workspace|peers\/agent\d+)(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])\/?|(?:workspace|peers\/agent\d+)\//gu;

/** Ignores differences in white space and in paths of private workspaces. */
function normalise(text: string): string {
  return text.replaceAll(WORKSPACES, "").replaceAll(/\s+/g, " ").trim();
}

const wordSet = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Jaccard index: common words divided by all words; 0 if neither text has words. */
function overlap(a: Set<string>, b: Set<string>): number {
  const all = a.union(b).size;
  return all === 0 ? 0 : a.intersection(b).size / all;
}
