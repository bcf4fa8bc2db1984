import type { ToolContext } from "../tool";

/** What file tools give and take at most, so that one call neither fills a conversation nor holds up everything else. */
export type FileToolLimits = {
  /** UTF-8 bytes of what a result shows; less than makes a result large, so that paging through a file never makes new files. */
  resultBytes: number;
  /** Entries of a listing, matches of a search. */
  entries: number;
  /** Files a search looks at. */
  searchedFiles: number;
  /** Bytes of files a search reads. */
  searchedBytes: number;
  /** UTF-16 units of a line that a search shows. */
  shownLine: number;
};

export const FILE_TOOL_LIMITS: FileToolLimits = {
  resultBytes: 48_000,
  entries: 1_000,
  searchedFiles: 10_000,
  searchedBytes: 16 * 1024 * 1024,
  shownLine: 400,
};

/** What a result says beside what it shows: where that lies, how much there is, where to read on. Bytes. */
const AROUND_BYTES = 400;
/** Of a page's bytes, the part that one line of a search may have at least. */
const LINE_SHARE = 10;

/** The limits of a call whose conversation takes so much of a result: that is less where the team or the provider wills it. */
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
