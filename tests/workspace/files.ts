import type { FileEntry, Tree, TreeChanges } from "../../src/workspace/types";

/** Files as the rules see them: equal texts have equal hashes. */
export function entry(word: string, executable = false): FileEntry {
  const hash = Array.from({ length: 64 }, (_, at) =>
    (word.charCodeAt(at % word.length) % 16).toString(16),
  ).join("");
  return { hash, size: word.length, ...(executable && { executable: true }) };
}

export type Words = Readonly<Record<string, string>>;

/** A tree from paths and words. */
export const tree = (words: Words): Tree =>
  new Map(Object.entries(words).map(([path, word]) => [path, entry(word)]));

/** Changes from paths and words; null: gone. */
export const changes = (words: Readonly<Record<string, string | null>>): TreeChanges =>
  new Map(Object.entries(words).map(([path, word]) => [path, word === null ? null : entry(word)]));
