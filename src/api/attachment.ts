import { makeZip } from "client-zip";
import type { Tree } from "../workspace/types";
import type { Call } from "./api-env";

/** Responses with files of users and agents. Browsers must save them, never show or run them. */
const NEVER_SHOWN = {
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

export const OCTETS = "application/octet-stream";
export const ZIP = "application/zip";

/** One file. `name`: file name, the last part of its path. */
export const attachment = (
  context: Call,
  name: string,
  body: ReadableStream<Uint8Array>,
  type: string = OCTETS,
): Response =>
  context.body(body, 200, {
    ...NEVER_SHOWN,
    "content-type": type,
    "content-disposition": dispositionOf(name),
  });

/** RFC 6266: an ASCII name for old clients, and the full name for others. */
function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, "_").slice(-100);
  const whole = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** The same time for every file: times are private, and equal trees give equal archives. */
const FIXED_TIME = new Date(Date.UTC(1980, 0, 1));
const EXECUTABLE = 0o755;
const PLAIN = 0o644;
/** Limits of prefetching: number of files and their total size. */
const AHEAD = { files: 4, bytes: 4_000_000 };

/** A tree as a zip, created while it is sent. `read`: returns a file's contents by hash. */
export function treeArchive(
  context: Call,
  name: string,
  tree: Tree,
  read: (hash: string) => Promise<ReadableStream<Uint8Array>>,
): Response {
  return attachment(context, name, makeZip(entriesOf(tree, read)), ZIP);
}

async function* entriesOf(tree: Tree, read: (hash: string) => Promise<ReadableStream<Uint8Array>>) {
  const left = [...tree].values();
  const asked: {
    path: string;
    size: number;
    executable: boolean;
    input: Promise<ReadableStream<Uint8Array>>;
  }[] = [];
  let bytes = 0;
  const ask = (): boolean => {
    const next = left.next();
    if (next.done) return false;
    const [path, { hash, size, executable = false }] = next.value;
    const input = read(hash);
    input.catch(() => undefined); // thrown when the file's turn comes
    asked.push({ path, size, executable, input });
    bytes += size;
    return true;
  };
  for (;;) {
    while (asked.length < AHEAD.files && (asked.length === 0 || bytes < AHEAD.bytes) && ask());
    const first = asked.shift();
    if (!first) return;
    yield {
      name: first.path,
      lastModified: FIXED_TIME,
      size: first.size,
      mode: first.executable ? EXECUTABLE : PLAIN,
      input: await first.input,
    };
    bytes -= first.size;
  }
}
