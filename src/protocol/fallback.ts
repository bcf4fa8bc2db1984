/** A final text that is not the presenter's own. API and command line say it with the same words. */

type Presented = { source: string; fallback?: string | null | undefined };

/** What stands in for a presentation that failed, as the end of a sentence about its agent. `fallback`: the stable code of why. */
export function fallbackWords({ source, fallback }: Presented): string {
  const why = fallback ?? "unknown";
  return source === "partial"
    ? `could not finish the final text (${why}): it is cut off`
    : `could not present the final text (${why}): its answer stands in for it`;
}

/** The same as a sentence; none for a presentation of its own, or where there is none. */
export function fallbackWarnings(presented: (Presented & { agent: string }) | null | undefined): string[] {
  if (!presented || presented.fallback == null) return [];
  return [`${presented.agent} ${fallbackWords(presented)}.`];
}
