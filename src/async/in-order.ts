/**
 * Yields `work(item)` for each item, in the order of the items. At most `atOnce` works run at the
 * same time. Throws the error of the first work in this order that failed. The generator ends when
 * no work is running any more.
 */
export async function* inOrder<Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = [];
  try {
    for (const item of items) {
      const result = work(item);
      result.catch(() => undefined); // thrown when its turn comes
      running.push(result);
      const [oldest] = running;
      if (running.length < atOnce || !oldest) continue;
      yield await oldest;
      running.shift();
    }
    for (const result of running) yield await result;
  } finally {
    await Promise.allSettled(running);
  }
}
