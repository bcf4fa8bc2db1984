import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { readExactly } from "./byte-queue";
import { quoted, UploadRefusal } from "./refusals";
import type { Tally } from "./tally";
import { refusingUnknownTypes } from "./tar-types";

/** An entry of an archive: a file with its contents, or a skipped entry with the reason. */
export type ArchiveEntry =
  | { kind: "file"; name: string; bytes: Uint8Array<ArrayBuffer>; executable: boolean }
  | { kind: "skipped"; name: string; reason: string };

const SETUID_OR_SETGID = 0o6000;
const EXECUTABLE = 0o111;

/** Names of other entry types for users. */
const OTHERS: Readonly<Record<string, string>> = {
  symlink: "symlink",
  link: "hard link",
  "character-device": "device",
  "block-device": "device",
  fifo: "named pipe",
};

/**
 * The entries of a tar as a stream, without directories. Names are unchanged. Every byte is counted
 * before it is processed. Throws `UploadRefusal` at the first invalid entry. Each file is in memory
 * as a whole. `length` is the length of the source, `null` if unknown; a file that claims to be
 * longer gets no memory.
 */
export async function* readTar(
  source: ReadableStream<Uint8Array>,
  tally: Tally,
  length: number | null = null,
): AsyncGenerator<ArchiveEntry> {
  const counted = source.pipeThrough(counting((bytes) => tally.expanded(bytes)));
  const entries = counted
    .pipeThrough(refusingUnknownTypes())
    .pipeThrough(createTarDecoder({ strict: true }));
  const reader = entries.getReader();
  try {
    for (let next = await read(reader); next; next = await read(reader)) {
      tally.entry();
      const entry = await toEntry(next, tally, length);
      if (entry) yield entry;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The same for a gzipped tar. */
export function readTarGzip(
  source: ReadableStream<Uint8Array>,
  tally: Tally,
): AsyncGenerator<ArchiveEntry> {
  return readTar(source.pipeThrough(new DecompressionStream("gzip")), tally);
}

/** Calls `count` with the size of each piece before passing it on; its error ends the stream. */
export const counting = (count: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> =>
  new TransformStream({
    transform(piece, controller) {
      count(piece.byteLength);
      controller.enqueue(piece);
    },
  });

type Reader = { read(): Promise<{ done: boolean; value?: ParsedTarEntry | undefined }> };

async function read(reader: Reader): Promise<ParsedTarEntry | undefined> {
  try {
    return (await reader.read()).value;
  } catch (error) {
    throw asRefusal(error);
  }
}

async function toEntry(
  { header, body }: ParsedTarEntry,
  tally: Tally,
  length: number | null,
): Promise<ArchiveEntry | null> {
  const { name, type = "file", mode = 0, size } = header;
  const reason = reasonToSkip(header.pax, type, mode);
  if (reason !== null || type === "directory") {
    await body.cancel();
    return reason === null ? null : { kind: "skipped", name, reason };
  }
  tally.file(name, size);
  if (length !== null && size > length)
    throw invalid(`${quoted(name)} claims to be larger than the archive`);
  const bytes = await readExactly(body, size).catch((error: unknown) => {
    throw asRefusal(error);
  });
  if (bytes === null) throw invalid(`${quoted(name)} is smaller than its declared size`);
  return { kind: "file", name, bytes, executable: (mode & EXECUTABLE) !== 0 };
}

function reasonToSkip(
  pax: Record<string, string> | undefined,
  type: string,
  mode: number,
): string | null {
  const other = OTHERS[type];
  if (other !== undefined) return other;
  if (type !== "file" && type !== "directory") return type;
  if ((mode & SETUID_OR_SETGID) !== 0 && type === "file") return "setuid";
  return Object.keys(pax ?? {}).some((key) => key.startsWith("GNU.sparse")) ? "sparse file" : null;
}

/** Errors of the decoder are problems of the archive; our own errors are kept. */
const asRefusal = (error: unknown): unknown => {
  if (error instanceof UploadRefusal) return error;
  return invalid(
    error instanceof Error ? error.message.replace(/\.$/, "") : "the archive cannot be read",
  );
};

const invalid = (what: string): UploadRefusal =>
  new UploadRefusal("archive_invalid", `Invalid archive: ${what}. Create the archive again.`);
