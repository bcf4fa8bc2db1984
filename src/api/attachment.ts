import { makeZip } from "client-zip";
import type { Tree } from "../workspace/types";
import type { Call } from "./api-env";

/** Files of users and agents as they leave the service: to be kept, never to be shown or run in its name. */
const NEVER_SHOWN = {
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

export const OCTETS = "application/octet-stream";
export const ZIP = "application/zip";

/** One file. `name`: what it is called, its path's last part. */
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

/** RFC 6266: a plain name for old programs, the name itself for others. */
function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, "_").slice(-100);
  const whole = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** The same moment for every file: when it was written is nobody's business, and the same tree gives the same bytes. */
const NO_MOMENT = new Date(Date.UTC(1980, 0, 1));
const EXECUTABLE = 0o755;
const PLAIN = 0o644;
/** How many files are asked for before the one before them is sent, and how large they may be together. */
const AHEAD = { files: 4, bytes: 4_000_000 };

/** A tree as a zip, made while it is sent. `read`: a file's contents by its hash, as a stream. */
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
    input.catch(() => undefined); // told when its turn comes
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
      lastModified: NO_MOMENT,
      size: first.size,
      mode: first.executable ? EXECUTABLE : PLAIN,
      input: await first.input,
    };
    bytes -= first.size;
  }
}
