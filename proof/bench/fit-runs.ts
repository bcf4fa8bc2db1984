type Limits = { wanted: number; fewest: number; most: number };

/**
 * Takes runs one after the other until the wanted number is usable, or until the limit of tries. A
 * run that gives `null` is unusable and set aside. Throws if fewer than the fewest remain.
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
