/** A final text that is not the presenter's own. API and command line say it with the same words. */

type Presented = {
  source: string;
  fallback?: string | null | undefined;
  changed_files?: number | undefined;
};

/** What stands in for a presentation that failed, as the end of a sentence about its agent. `fallback`: the stable code of why. */
export function fallbackWords({ source, fallback, changed_files }: Presented): string {
  const why = fallback ?? "unknown";
  const files = changed_files
    ? `; the files it had changed are handed over (${changed_files})`
    : "";
  return source === "partial"
    ? `could not finish the final text (${why}): it is cut off${files}`
    : `could not present the final text (${why}): its answer stands in for it${files}`;
}

/** The same as a sentence; none for a presentation of its own, or where there is none. */
export function fallbackWarnings(
  presented: (Presented & { agent: string }) | null | undefined,
): string[] {
  if (!presented || presented.fallback == null) return [];
  return [`${presented.agent} ${fallbackWords(presented)}.`];
}
