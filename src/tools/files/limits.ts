/** What file tools give and take at most, so that one call neither fills a conversation nor holds up everything else. */
export type FileToolLimits = {
  /** UTF-8 bytes of a result; below what makes a result large, so that paging through a file never makes new files. */
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
