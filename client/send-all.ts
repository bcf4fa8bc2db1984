/** `requests`: most sends at the same time. `bytes`: their size together, unless one is larger. */
type Limits<Item> = { requests: number; bytes: number; sizeOf: (item: Item) => number };

/**
 * Sends all items, several at the same time. Throws the first error; then `stop` is aborted, and no
 * send is running any more.
 */
export async function sendAll<Item>(
  items: readonly Item[],
  { requests, bytes, sizeOf }: Limits<Item>,
  send: (item: Item, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const running = new Map<Promise<void>, number>();
  const stop = new AbortController();
  const hasRoomFor = (size: number): boolean =>
    running.size < requests && sum(running.values()) + size <= bytes;
  try {
    for (const item of items) {
      const size = sizeOf(item);
      while (running.size > 0 && !hasRoomFor(size)) await Promise.race(running.keys());
      const sending: Promise<void> = send(item, stop.signal).then(() => {
        running.delete(sending);
      });
      running.set(sending, size);
    }
    await Promise.all(running.keys());
  } finally {
    stop.abort();
    await Promise.allSettled(running.keys());
  }
}

const sum = (sizes: Iterable<number>): number => {
  let total = 0;
  for (const size of sizes) total += size;
  return total;
};
