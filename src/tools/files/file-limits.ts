import type { ToolContext } from "../tool";

/**
 * Limits of one call of a file tool, so that it neither fills the conversation nor blocks other
 * work.
 */
export type FileToolLimits = {
  /**
   * UTF-8 bytes of content in a result. It is below the size of a large result, so that reading a
   * file in pages creates no new files.
   */
  resultBytes: number;
  /** Entries of a listing, or matches of a search. */
  entries: number;
  /** Files visited by a search. */
  searchedFiles: number;
  /** Bytes read by a search. */
  searchedBytes: number;
  /** UTF-16 code units of a line in search results. */
  shownLine: number;
};

export const FILE_TOOL_LIMITS: FileToolLimits = {
  resultBytes: 48_000,
  entries: 1_000,
  searchedFiles: 10_000,
  searchedBytes: 16 * 1024 * 1024,
  shownLine: 400,
};

/** Bytes of a result besides its content: path, total size, where to continue. */
const AROUND_BYTES = 400;
/** A search line may take at least this fraction (1/n) of a page. */
const LINE_SHARE = 10;

/** The limits of a call, reduced if the team or the provider allows a smaller result. */
export function fittingInto(
  limits: FileToolLimits,
  { resultBytes }: Pick<ToolContext, "resultBytes">,
): FileToolLimits {
  if (resultBytes === undefined) return limits;
  const room = Math.min(limits.resultBytes, Math.max(0, resultBytes - AROUND_BYTES));
  return {
    ...limits,
    resultBytes: room,
    shownLine: Math.min(limits.shownLine, Math.ceil(room / LINE_SHARE)),
  };
}
