/** `wanted`: usable runs to take. `fewest`: usable runs that suffice. `most`: limit of tries. */
type Limits = { wanted: number; fewest: number; most: number };

/**
 * Takes runs one after another until `wanted` runs are usable, or until `most` runs are tried. If
 * `take` returns `null`, the run is unusable and counted in `setAside`. Throws if fewer than
 * `fewest` runs are usable.
 */
export async function takeFit<Run>(
  take: () => Promise<Run | null>,
  { wanted, fewest, most }: Limits,
): Promise<{ fit: Run[]; setAside: number }> {
  const fit: Run[] = [];
  let tried = 0;
  for (; fit.length < wanted && tried < most; tried += 1) {
    const run = await take();
    if (run !== null) fit.push(run);
  }
  if (fit.length >= fewest) return { fit, setAside: tried - fit.length };
  throw new Error(
    `Only ${fit.length} of ${tried} runs were usable; this figure needs ${fewest}. Try it on a quiet machine.`,
  );
}
