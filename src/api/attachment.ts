import { makeZip } from "client-zip";
import type { Tree } from "../workspace/types";
import type { Call } from "./api-env";

/** Headers for files of users and agents. Browsers must save the files, never show or run them. */
const DOWNLOAD_HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

export const OCTETS = "application/octet-stream";
export const ZIP = "application/zip";

/** The response that sends one file as a download. `name`: the file name without folders. */
export const attachment = (
  context: Call,
  name: string,
  body: ReadableStream<Uint8Array>,
  type: string = OCTETS,
): Response =>
  context.body(body, 200, {
    ...DOWNLOAD_HEADERS,
    "content-type": type,
    "content-disposition": contentDisposition(name),
  });

/** As in RFC 6266: an ASCII name for old clients, and the full name for other clients. */
function contentDisposition(name: string): string {
  const asciiName = name.replaceAll(/[^\w.-]/g, "_").slice(-100);
  const encodedName = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${asciiName}"; filename*=UTF-8''${encodedName}`;
}

/**
 * The modification time of every file in an archive. Real times are private, and with one time
 * equal trees give equal archives.
 */
const FIXED_TIME = new Date(Date.UTC(1980, 0, 1));
const EXECUTABLE_MODE = 0o755;
const PLAIN_MODE = 0o644;
/** Limits of the files that are requested before they are sent: their number and total size. */
const PREFETCH_LIMITS = { files: 4, bytes: 4_000_000 };

/**
 * The response that sends a tree as a zip. The zip is created while it is sent. `read` returns the
 * contents of a file by hash.
 */
export function treeArchive(
  context: Call,
  name: string,
  tree: Tree,
  read: (hash: string) => Promise<ReadableStream<Uint8Array>>,
): Response {
  return attachment(context, name, makeZip(entriesOf(tree, read)), ZIP);
}

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
