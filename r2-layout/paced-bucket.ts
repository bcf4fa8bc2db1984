import { nextMacrotask } from "../src/async/sleep";
import type { Bucket } from "./bucket";
import type { FileBucket } from "./session-files";

/**
 * Bytes that are written before other requests run. While `workerd` writes a large body, it answers
 * no other request: `/healthz` waited 300 ms for one write of 7 MB, and less than 100 ms with
 * pieces.
 */
const PIECE_BYTES = 128 * 1024;

/**
 * Writes like `bucket.put`, but a large value in pieces. Other requests run between the pieces.
 * Works only in `workerd`: R2 must know the length of a stream, and only `workerd` has
 * `FixedLengthStream`.
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
  const writing = writePieces(bytes, writable, stop.signal).catch(() => {
    // A failed write ends the body early. Then `put` reports the failure.
  });
  try {
    return await bucket.put(key, readable, options);
  } finally {
    stop.abort(); // R2 may answer without reading the body, for example if the object exists
    await writing;
  }
}

async function writePieces(
  bytes: Uint8Array,
  writable: WritableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const writer = writable.getWriter();
  signal.addEventListener("abort", () => void writer.abort().catch(() => {}), { once: true });
  for (let offset = 0; offset < bytes.byteLength; offset += PIECE_BYTES) {
    await writer.write(bytes.subarray(offset, offset + PIECE_BYTES));
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
