import { createHash, type Hash } from "node:crypto";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Many readers of one stream, who do as little as they can, since they share the machine with what they measure. */
export type Crowd = {
  /** Settles when all of them are connected. */
  ready: Promise<void>;
  /** Settles when all of them have so many bytes, or after so long; then they are gone. */
  until(bytes: number, patienceMs: number): Promise<void>;
  /** For each piece that came, ms since the oldest event in it was made; from `startAt` on (unix ms). */
  latencies(startAt: number): number[];
  /** How many got fewer or more bytes than these, or others than most; and the pieces of all of them together. */
  got(bytes: number): { wrong: number; pieces: number };
};

type Reader = { hash: Hash; bytes: number };
const AT = Buffer.from('"at":');
/** As long as unix ms are written. */
const DIGITS = 13;

export function gather(url: string, size: number): Crowd {
  const readers: Reader[] = [];
  const samples: { at: number; ms: number }[] = [];
  let pieces = 0;
  const take = (reader: Reader, piece: Buffer) => {
    pieces += 1;
    reader.bytes += piece.length;
    reader.hash.update(piece);
    const place = piece.indexOf(AT);
    if (place < 0) return;
    const at = Number(piece.toString("latin1", place + AT.length, place + AT.length + DIGITS));
    samples.push({ at, ms: Date.now() - at });
  };
  const connections = Array.from({ length: size }, () => {
    const reader = { hash: createHash("sha1"), bytes: 0 };
    readers.push(reader);
    return connect(url, (piece) => take(reader, piece));
  });
  return {
    ready: Promise.all(connections.map(({ connected }) => connected)).then(() => undefined),
    async until(bytes, patienceMs) {
      const giveUpAt = performance.now() + patienceMs;
      while (readers.some((reader) => reader.bytes < bytes) && performance.now() < giveUpAt)
        await sleep(20);
      for (const { leave } of connections) leave();
    },
    latencies: (startAt) => samples.filter(({ at }) => at >= startAt).map(({ ms }) => ms),
    got(bytes) {
      const groups = Map.groupBy(readers, ({ hash }) => hash.copy().digest("hex")).values();
      const [most = []] = [...groups].sort((one, other) => other.length - one.length);
      return { wrong: size - most.filter((reader) => reader.bytes === bytes).length, pieces };
    },
  };
}

function connect(
  url: string,
  onPiece: (piece: Buffer) => void,
): { connected: Promise<void>; leave: () => void } {
  const connected = Promise.withResolvers<void>();
  const request = get(
    url,
    { agent: false, headers: { accept: "text/event-stream" } },
    (response) => {
      if (response.statusCode !== 200)
        return connected.reject(new Error(`${url} answered ${response.statusCode}`));
      connected.resolve();
      response.on("data", onPiece).on("error", () => undefined);
    },
  );
  request.on("error", connected.reject); // who left hears no more
  return { connected: connected.promise, leave: () => void request.destroy() };
}
