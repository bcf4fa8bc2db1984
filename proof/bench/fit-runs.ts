type Wanted = { wanted: number; fewest: number; most: number };

/**
 * Runs that are fit for a figure, taken one after the other until there are as many as wanted, or as many were tried as may be. One
 * that gives null is no such run, says nothing of the figure and is set aside. Throws where fewer than the fewest are left.
 */
export async function takeFit<Run>(
  take: () => Promise<Run | null>,
  { wanted, fewest, most }: Wanted,
): Promise<{ fit: Run[]; setAside: number }> {
  const fit: Run[] = [];
  let tried = 0;
  for (; fit.length < wanted && tried < most; tried += 1) {
    const run = await take();
    if (run !== null) fit.push(run);
  }
  if (fit.length >= fewest) return { fit, setAside: tried - fit.length };
  throw new Error(
    `Of ${tried} runs ${fit.length} were as this figure needs them, and it takes ${fewest}. Try it on a quiet machine.`,
  );
}
