import { createHash } from "node:crypto";
import { CHARACTERS_PER_TOKEN } from "./reply";

/**
 * Prompt caches of simulated providers. A cache knows the beginnings of earlier prompts. It has the
 * rules of its provider: which beginnings it stores, and where it searches for them.
 */

/** A piece of a prompt, in the order in which the provider caches them. */
export type PromptBlock = {
  text: string;
  /** Further data that must be equal in a later prompt. It is not counted. Omitted: none. */
  key?: string;
  /**
   * Whether the beginning up to the end of this block can be stored: `explicit` if the request says
   * so, `implicit` if the provider does. `null`: neither.
   */
  mark: "explicit" | "implicit" | null;
};

/** What a request read from the cache and wrote to it, in tokens. */
export type CacheUse = { readTokens: number; writtenTokens: number };

/** The cache of one model. `at`: Unix ms. */
export type PromptCache = { use(blocks: readonly PromptBlock[], at: number): CacheUse };

const tokensIn = (chars: number): number => Math.ceil(chars / CHARACTERS_PER_TOKEN);
const hashAfter = (before: string, text: string, key = ""): string =>
  createHash("sha256").update(`${before}\n${key}\n${text}`).digest("base64");

/** Beginnings by their hash, with the time of their latest use. They expire without use. */
class Beginnings {
  readonly #idleMs: number;
  readonly #usedAt = new Map<string, number>();

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  has(hash: string, at: number): boolean {
    const usedAt = this.#usedAt.get(hash);
    return usedAt !== undefined && at - usedAt <= this.#idleMs;
  }

  use(hash: string, at: number): void {
    this.#usedAt.set(hash, at);
  }
}

/**
 * `minTokens`: minimum length of a beginning that is read. `stepTokens`: its length is a multiple
 * of this.
 */
type PrefixRule = { minTokens: number; stepTokens: number; idleMs: number };

/**
 * A cache that stores every prompt and reads the longest known beginning, at any place of a text.
 * Writing has no price, so no written tokens are reported.
 */
export function prefixCache({ minTokens, stepTokens, idleMs }: PrefixRule): PromptCache {
  const known = new Beginnings(idleMs);
  return {
    use(blocks, at) {
      const hashes = chunkHashes(blocks.map(({ text }) => text).join(""), stepTokens);
      const firstUnknown = hashes.findIndex((hash) => !known.has(hash, at));
      const steps = firstUnknown < 0 ? hashes.length : firstUnknown;
      for (const hash of hashes) known.use(hash, at);
      const readTokens = steps * stepTokens;
      return { readTokens: readTokens >= minTokens ? readTokens : 0, writtenTokens: 0 };
    },
  };
}

/** The hash of each beginning that consists of whole steps. */
function chunkHashes(text: string, stepTokens: number): string[] {
  const chars = stepTokens * CHARACTERS_PER_TOKEN;
  let hash = "";
  return Array.from({ length: Math.floor(text.length / chars) }, (_, step) => {
    hash = hashAfter(hash, text.slice(step * chars, (step + 1) * chars));
    return hash;
  });
}

type MarkRule = {
  /** Minimum length of a beginning that is stored. */
  minTokens: number;
  /** Number of blocks before each mark at which the cache is searched, with the marked block. */
  lookback: number;
  /** Maximum number of explicit marks, the latest ones, at which a beginning is stored. */
  mostWritten: number;
  /** Maximum number of marks, the latest ones, at which the cache is searched. */
  mostRead: number;
  idleMs: number;
};

/** A cache that stores beginnings only at marks, and searches for them only near marks. */
export function markCache(rule: MarkRule): PromptCache {
  const known = new Beginnings(rule.idleMs);
  return {
    use(blocks, at) {
      const ends = endsOf(blocks);
      const marks = ends.filter(({ mark }) => mark !== null);
      const searched = marks
        .slice(-rule.mostRead)
        .flatMap(({ index }) => ends.slice(Math.max(0, index + 1 - rule.lookback), index + 1));
      const found = searched.filter(({ hash }) => known.has(hash, at)).at(-1);
      if (found) known.use(found.hash, at);
      const explicit = marks.filter(({ mark }) => mark === "explicit").slice(-rule.mostWritten);
      const stored = marks.filter(
        (end) =>
          end.tokens >= rule.minTokens && (end.mark === "implicit" || explicit.includes(end)),
      );
      for (const { hash } of stored) known.use(hash, at);
      const readTokens = found?.tokens ?? 0;
      const written = Math.max(0, ...stored.map(({ tokens }) => tokens - readTokens));
      return { readTokens, writtenTokens: written };
    },
  };
}

/** The end of a block: the hash and the tokens of the prompt up to there. */
type BlockEnd = { index: number; hash: string; tokens: number; mark: PromptBlock["mark"] };

function endsOf(blocks: readonly PromptBlock[]): BlockEnd[] {
  let [hash, chars] = ["", 0];
  return blocks.map(({ text, key, mark }, index) => {
    hash = hashAfter(hash, text, key);
    chars += text.length;
    return { index, hash, tokens: tokensIn(chars), mark };
  });
}
