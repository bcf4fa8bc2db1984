import { createHash, type Hash } from "node:crypto";
import { get } from "node:http";

/** Many readers of one stream, who do as little as they can, since they share the machine with what they measure. */
export type Crowd = {
  /** Settles when all of them are connected. */
  ready: Promise<void>;
  /** Settles when the stream has ended for all of them. */
  ended: Promise<void>;
  /** For each piece that came, ms since the oldest event in it was made; from `startAt` on (unix ms). */
  latencies(startAt: number): number[];
  /** Bytes of each, and how many of them got other bytes than most. */
  got(): { bytes: number; differing: number; pieces: number };
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
    ended: Promise.all(connections.map(({ ended }) => ended)).then(() => undefined),
    latencies: (startAt) => samples.filter(({ at }) => at >= startAt).map(({ ms }) => ms),
    got() {
      const digests = readers.map(({ hash }) => hash.copy().digest("hex"));
      const most = Math.max(
        ...Map.groupBy(digests, (digest) => digest)
          .values()
          .map(({ length }) => length),
      );
      return { bytes: readers[0]?.bytes ?? 0, differing: size - most, pieces };
    },
  };
}

function connect(url: string, onPiece: (piece: Buffer) => void): { connected: Promise<void>; ended: Promise<void> } {
  const connected = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const failed = (error: Error) => {
    connected.reject(error);
    ended.reject(error);
  };
  get(url, { agent: false, headers: { accept: "text/event-stream" } }, (response) => {
    if (response.statusCode !== 200) return failed(new Error(`${url} answered ${response.statusCode}`));
    connected.resolve();
    response.on("data", onPiece).once("end", ended.resolve).once("error", failed);
  }).on("error", failed);
  return { connected: connected.promise, ended: ended.promise };
}
