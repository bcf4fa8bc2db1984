import { nextMacrotask } from "../src/async/sleep";
import type { Bucket } from "./bucket";
import type { FileBucket } from "./session-files";

/**
 * Bytes written before other requests run. `workerd` answers no request while a body of several MB
 * passes through: in one write of 7 MB, `/healthz` waited 300 ms; in pieces, less than 100 ms.
 */
const PIECE_BYTES = 128 * 1024;

/**
 * Writes like `bucket.put`. Larger values are written in pieces, and other requests run between the
 * pieces. Only in `workerd`: R2 needs the length in advance, which `FixedLengthStream` provides.
 */
export async function pacedPut(
  bucket: Pick<Bucket, "put">,
  key: string,
  value: Uint8Array | string,
  options: R2PutOptions,
): Promise<R2Object | null> {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (bytes.byteLength <= PIECE_BYTES) return bucket.put(key, bytes, options);
  const { readable, writable } = new FixedLengthStream(bytes.byteLength);
  const stop = new AbortController();
  const written = writePieces(bytes, writable, stop.signal).catch(() => {
    // The put reports the failure: its body ends early.
  });
  try {
    return await bucket.put(key, readable, options);
  } finally {
    stop.abort(); // R2 may answer without reading the body, as for an object that exists
    await written;
  }
}

async function writePieces(
  bytes: Uint8Array,
  writable: WritableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const writer = writable.getWriter();
  signal.addEventListener("abort", () => void writer.abort().catch(() => {}), { once: true });
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    await writer.write(bytes.subarray(at, at + PIECE_BYTES));
    await nextMacrotask();
  }
  await writer.close();
}

/** The bucket for a session's files, with paced writes. */
export const pacedBucket = (bucket: Bucket): FileBucket => ({
  put: (key, value, options) => pacedPut(bucket, key, value, options),
  get: (key, options) => bucket.get(key, options),
  head: (key) => bucket.head(key),
  delete: (keys) => bucket.delete(keys),
});
