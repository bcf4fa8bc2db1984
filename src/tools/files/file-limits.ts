import type { ToolContext } from "../tool";

/**
 * Limits of one call of a file tool, so that it neither fills the conversation nor blocks other
 * work.
 */
export type FileToolLimits = {
  /**
   * UTF-8 bytes of content in a result. The limit is below the size of a large result. Otherwise a
   * page of a file would itself be stored as a file.
   */
  resultBytes: number;
  /** Maximum number of entries in a listing, or of matches in a search. */
  entries: number;
  /** Maximum number of files that a search visits. */
  searchedFiles: number;
  /** Maximum number of bytes that a search reads. */
  searchedBytes: number;
  /** Maximum length of a line in search results, in UTF-16 code units. */
  shownLine: number;
};

export const FILE_TOOL_LIMITS: FileToolLimits = {
  resultBytes: 48_000,
  entries: 1_000,
  searchedFiles: 10_000,
  searchedBytes: 16 * 1024 * 1024,
  shownLine: 400,
};

/** Bytes for the note after the content: path, total size, where to continue. */
const NOTE_BYTES = 400;
/** In a small result, a line of a search is cut, so that about this many lines fit. */
const MIN_LINES = 10;

/** The limits of a call. They are lower if the team or the provider allows only a small result. */
export function reducedLimits(
  limits: FileToolLimits,
  { resultBytes }: Pick<ToolContext, "resultBytes">,
): FileToolLimits {
  if (resultBytes === undefined) return limits;
  const maxBytes = Math.min(limits.resultBytes, Math.max(0, resultBytes - NOTE_BYTES));
  return {
    ...limits,
    resultBytes: maxBytes,
    shownLine: Math.min(limits.shownLine, Math.ceil(maxBytes / MIN_LINES)),
  };
}
