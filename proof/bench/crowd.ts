import { createHash, type Hash } from "node:crypto";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Many readers of one stream. They do as little as possible, because they share the machine with
 * the service.
 */
export type Crowd = {
  /** Resolves when all readers are connected. */
  ready: Promise<void>;
  /** Waits until all readers have `bytes` bytes, at most `limitMs`; then disconnects them. */
  until(bytes: number, limitMs: number): Promise<void>;
  /**
   * The age of the oldest event of each received chunk, in ms. Excludes events that are older than
   * `startAt` (unix ms).
   */
  latencies(startAt: number): number[];
  /**
   * `wrong`: readers that did not receive exactly `bytes` bytes, or not the bytes that most readers
   * received. `chunks`: the chunks of all readers together.
   */
  received(bytes: number): { wrong: number; chunks: number };
};

type Reader = { hash: Hash; bytes: number };
/** The key of an event's time in its JSON. */
const AT = Buffer.from('"at":');
/** Number of digits of a unix time in ms. */
const DIGITS = 13;

/** Connects `size` readers to the stream. */
export function gather(url: string, size: number): Crowd {
  const readers: Reader[] = [];
  const samples: { at: number; ms: number }[] = [];
  let chunks = 0;
  const receive = (reader: Reader, chunk: Buffer) => {
    chunks += 1;
    reader.bytes += chunk.length;
    reader.hash.update(chunk);
    const position = chunk.indexOf(AT);
    if (position < 0) return;
    const at = Number(
      chunk.toString("latin1", position + AT.length, position + AT.length + DIGITS),
    );
    samples.push({ at, ms: Date.now() - at });
  };
  const connections = Array.from({ length: size }, () => {
    const reader = { hash: createHash("sha1"), bytes: 0 };
    readers.push(reader);
    return connect(url, (chunk) => receive(reader, chunk));
  });
  return {
    ready: Promise.all(connections.map(({ connected }) => connected)).then(() => undefined),
    async until(bytes, limitMs) {
      const giveUpAt = performance.now() + limitMs;
      while (readers.some((reader) => reader.bytes < bytes) && performance.now() < giveUpAt)
        await sleep(20);
      for (const { leave } of connections) leave();
    },
    latencies: (startAt) => samples.filter(({ at }) => at >= startAt).map(({ ms }) => ms),
    received(bytes) {
      const groups = Map.groupBy(readers, ({ hash }) => hash.copy().digest("hex")).values();
      const [most = []] = [...groups].sort((one, other) => other.length - one.length);
      return { wrong: size - most.filter((reader) => reader.bytes === bytes).length, chunks };
    },
  };
}

function connect(
  url: string,
  onChunk: (chunk: Buffer) => void,
): { connected: Promise<void>; leave: () => void } {
  const connected = Promise.withResolvers<void>();
  const request = get(
    url,
    { agent: false, headers: { accept: "text/event-stream" } },
    (response) => {
      if (response.statusCode !== 200)
        return connected.reject(new Error(`${url} answered ${response.statusCode}`));
      connected.resolve();
      response.on("data", onChunk).on("error", () => undefined);
    },
  );
  request.on("error", connected.reject); // Has no effect once `connected` is resolved.
  return { connected: connected.promise, leave: () => void request.destroy() };
}
