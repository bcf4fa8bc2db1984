import { makeZip } from "client-zip";
import type { Tree } from "../workspace/types";

/**
 * The modification time of every file in an archive. Real times are private, and with one time
 * equal trees give equal archives.
 */
const FIXED_TIME = new Date(Date.UTC(1980, 0, 1));
const EXECUTABLE_MODE = 0o755;
const PLAIN_MODE = 0o644;
/** Limits of the files that are requested before they are sent: their number and total size. */
const PREFETCH_LIMITS = { files: 4, bytes: 4_000_000 };

/** A tree as a zip, created while it is read. `read` returns the contents of a file by hash. */
export const zipOf = (
  tree: Tree,
  read: (hash: string) => Promise<ReadableStream<Uint8Array>>,
): ReadableStream<Uint8Array> => makeZip(entriesOf(tree, read));

async function* entriesOf(tree: Tree, read: (hash: string) => Promise<ReadableStream<Uint8Array>>) {
  const remaining = [...tree].values();
  const prefetched: {
    path: string;
    size: number;
    executable: boolean;
    input: Promise<ReadableStream<Uint8Array>>;
  }[] = [];
  let bytes = 0;
  /** Returns `false` if no file remains. */
  const prefetchNext = (): boolean => {
    const result = remaining.next();
    if (result.done) return false;
    const [path, { hash, size, executable = false }] = result.value;
    const input = read(hash);
    input.catch(() => undefined); // `await next.input` below throws the error
    prefetched.push({ path, size, executable, input });
    bytes += size;
    return true;
  };
  for (;;) {
    // At least one file is requested, also if it is larger than the limit.
    while (
      prefetched.length < PREFETCH_LIMITS.files &&
      (prefetched.length === 0 || bytes < PREFETCH_LIMITS.bytes) &&
      prefetchNext()
    );
    const next = prefetched.shift();
    if (!next) return;
    yield {
      name: next.path,
      lastModified: FIXED_TIME,
      size: next.size,
      mode: next.executable ? EXECUTABLE_MODE : PLAIN_MODE,
      input: await next.input,
    };
    bytes -= next.size;
  }
}
