/** More tokens than any call can have: a report beyond it is none, and its sums stay exact. */
const MOST = 1_000_000_000;

/** A number of tokens or uses as a provider reports it; `otherwise` where it reports none. */
export const reportedCount = (value: unknown, otherwise = 0): number =>
  typeof value === "number" && value >= 0 && value <= MOST ? Math.trunc(value) : otherwise;
