import type { FileEntry, Tree, TreeChanges } from "../../src/workspace/types";

/** A file whose hash depends on a word, so equal words have equal hashes. */
export function entry(word: string, executable = false): FileEntry {
  const hash = Array.from({ length: 64 }, (_, index) =>
    (word.charCodeAt(index % word.length) % 16).toString(16),
  ).join("");
  return { hash, size: word.length, ...(executable && { executable: true }) };
}

export type Words = Readonly<Record<string, string>>;

/** A tree from paths and words. */
export const tree = (words: Words): Tree =>
  new Map(Object.entries(words).map(([path, word]) => [path, entry(word)]));

/** Changes from paths and words; `null` removes the file. */
export const changes = (words: Readonly<Record<string, string | null>>): TreeChanges =>
  new Map(Object.entries(words).map(([path, word]) => [path, word === null ? null : entry(word)]));
