import { createHash, type Hash } from "node:crypto";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Many readers of one stream. They do as little as possible, because they share the machine with
 * the service.
 */
export type Crowd = {
  /** Resolves when all of them are connected. */
  ready: Promise<void>;
  /** Resolves when all readers have so many bytes, or after `limitMs`; then all disconnect. */
  until(bytes: number, limitMs: number): Promise<void>;
  /** For each chunk, the age of its oldest event in ms, from `startAt` on (unix ms). */
  latencies(startAt: number): number[];
  /**
   * Number of readers with another number of bytes or other bytes than most; and the chunks of all
   * readers together.
   */
  got(bytes: number): { wrong: number; chunks: number };
};

type Reader = { hash: Hash; bytes: number };
const AT = Buffer.from('"at":');
/** Digits of a unix time in ms. */
const DIGITS = 13;

export function gather(url: string, size: number): Crowd {
  const readers: Reader[] = [];
  const samples: { at: number; ms: number }[] = [];
  let chunks = 0;
  const take = (reader: Reader, chunk: Buffer) => {
    chunks += 1;
    reader.bytes += chunk.length;
    reader.hash.update(chunk);
    const place = chunk.indexOf(AT);
    if (place < 0) return;
    const at = Number(chunk.toString("latin1", place + AT.length, place + AT.length + DIGITS));
    samples.push({ at, ms: Date.now() - at });
  };
  const connections = Array.from({ length: size }, () => {
    const reader = { hash: createHash("sha1"), bytes: 0 };
    readers.push(reader);
    return connect(url, (chunk) => take(reader, chunk));
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
    got(bytes) {
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
  request.on("error", connected.reject); // Without effect after a reader has left.
  return { connected: connected.promise, leave: () => void request.destroy() };
}
