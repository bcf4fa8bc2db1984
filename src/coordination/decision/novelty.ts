import type { TeamRules } from "../../protocol/team";

/** Above this overlap of words an answer is too close to one its author was shown. */
const MOST_OVERLAP: Record<TeamRules["answer_novelty_requirement"], number> = {
  lenient: 1,
  balanced: 0.7,
  strict: 0.5,
};

type Novelty = "new" | "duplicate" | "too_similar";

/** How an answer stands to the answers its author was shown. */
export function novelty(
  content: string,
  shown: readonly string[],
  requirement: TeamRules["answer_novelty_requirement"],
): Novelty {
  const text = normalise(content);
  const others = shown.map(normalise);
  if (others.includes(text)) return "duplicate";
  const most = MOST_OVERLAP[requirement];
  if (most >= 1) return "new";
  const words = wordSet(text);
  return others.some((other) => overlap(words, wordSet(other)) > most) ? "too_similar" : "new";
}

/** Where private workspaces lie, with and without what is below them. */
const WORKSPACES =
  /\/(?:workspace|peers\/agent\d+)(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])\/?|(?:workspace|peers\/agent\d+)\//gu;

/** White space and the paths of private workspaces do not make an answer another one. */
function normalise(text: string): string {
  return text.replaceAll(WORKSPACES, "").replaceAll(/\s+/g, " ").trim();
}

const wordSet = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Jaccard index: shared words over all words; 0 for two texts without words. */
function overlap(a: Set<string>, b: Set<string>): number {
  const all = a.union(b).size;
  return all === 0 ? 0 : a.intersection(b).size / all;
}
