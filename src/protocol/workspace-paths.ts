import { filePath, type FilesOf } from "./paths";

/**
 * Converts the paths in an answer's text. Agents write the paths of their own files as
 * `/workspace/x`, and the stored text of an answer keeps them. Each reader needs another path.
 */

/** `/workspace` as a path or a prefix of one, but not as part of a longer path or URL. */
export const OWN_WORKSPACE = /(?<![\p{L}\p{N}_./~-])\/workspace(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])/gu;
/** As `OWN_WORKSPACE`, with the scheme that some models write before paths in links. */
const LINKED_WORKSPACE =
  /(?<![\p{L}\p{N}_./~-])(?:(?:sandbox:|file:\/\/)(?=\/workspace))?\/workspace(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])/gu;
/** Continues a file name: a path of the list that ends before such a text is another file. */
const CONTINUATION = /^(?:[\p{L}\p{N}_/-]|\.[\p{L}\p{N}])/u;
/** Most paths of one text that become addresses. It bounds the work for a hostile text. */
const MAX_LINKS = 1_000;
/** Longest spelling: a path of 4,096 bytes, each of them encoded. */
const MAX_SPELLING_CHARS = 3 * 4_096;
/** Most candidates for one path. Only files whose names continue one another need more than two. */
const MAX_STEPS = 16;

/** The reader of a text. `files`: the paths of the answer's files, relative to its workspace. */
export type PathReader =
  /** A person at a terminal or on a page. A page on the service's own origin omits `origin`. */
  | { for: "terminal"; origin: string; result: FilesOf; files: Iterable<string> }
  | { for: "page"; origin?: string; result: FilesOf; files: Iterable<string> }
  /** An export, which has the files in `folder`: a relative path, or `.` for the text's folder. */
  | { for: "export"; folder: string }
  /** A model in a later turn, which can read the files of turn `turn`. */
  | { for: "prompt"; turn: number };

/**
 * Returns the text with its `/workspace/x` as the reader needs it: the address of the file, a
 * relative path, or `/turns/turn_k/x`. An address replaces only paths of existing files.
 */
export function withPathsFor(reader: PathReader, text: string): string {
  switch (reader.for) {
    case "terminal":
    case "page":
      return withAddresses(reader, text);
    case "export":
      return text.replaceAll(LINKED_WORKSPACE, () => reader.folder);
    case "prompt":
      return text.replaceAll(OWN_WORKSPACE, `/turns/turn_${reader.turn}`);
  }
}

function withAddresses(
  { origin = "", result, files }: Extract<PathReader, { for: "terminal" | "page" }>,
  text: string,
): string {
  const spellings = spellingsOf(files);
  const sorted = [...spellings.keys()].sort();
  const parts: string[] = [];
  let end = 0;
  let links = 0;
  for (const { 0: root, index } of text.matchAll(LINKED_WORKSPACE)) {
    const start = index + root.length + 1;
    if (index < end || text[start - 1] !== "/") continue;
    const spelling = longestSpelling(text, start, sorted);
    const path = spelling === null ? undefined : spellings.get(spelling);
    if (spelling === null || path === undefined) continue;
    parts.push(text.slice(end, index), `${origin}${filePath(result, path, { inline: true })}`);
    end = start + spelling.length;
    links += 1;
    if (links === MAX_LINKS) break;
  }
  return [...parts, text.slice(end)].join("");
}

/** Each file's path by its spellings in texts: as it is, and encoded as in a Markdown link. */
const spellingsOf = (files: Iterable<string>): Map<string, string> =>
  new Map([...files].flatMap((path) => [[encodeURI(path), path] as const, [path, path] as const]));

/**
 * The longest spelling of a file at `start`; `null` if the text there names no file. `sorted`: all
 * spellings. A spelling with which a text begins is the last one that is not after the text, or a
 * beginning of that one. So the work does not grow with the number of files.
 */
function longestSpelling(text: string, start: number, sorted: readonly string[]): string | null {
  let rest = text.slice(start, start + MAX_SPELLING_CHARS);
  for (let step = 0; step < MAX_STEPS && rest !== ""; step += 1) {
    const spelling = sorted[countUpTo(sorted, rest) - 1];
    if (spelling === undefined) return null;
    const common = commonLength(spelling, rest);
    const isBeginning = common === spelling.length;
    const next = text.slice(start + common, start + common + 3);
    if (isBeginning && !CONTINUATION.test(next)) return spelling;
    rest = rest.slice(0, isBeginning ? common - 1 : common);
  }
  return null;
}

/** The number of spellings that are not after `text` in the order of the list. */
function countUpTo(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") <= text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of characters with which both texts begin. */
function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
