import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import { readExactly } from "./byte-queue";
import { quoted, UploadRefusal } from "./refusals";
import type { Tally } from "./tally";
import { refuseUnknownTypes } from "./tar-types";

/** An entry of an archive: a file with its contents, or a skipped entry with the reason. */
export type ArchiveEntry =
  | { kind: "file"; name: string; bytes: Uint8Array<ArrayBuffer>; executable: boolean }
  | { kind: "skipped"; name: string; reason: string };

const SETUID_OR_SETGID = 0o6000;
const EXECUTABLE_BITS = 0o111;

/** Names, for users, of the entry types that are skipped. */
const SKIPPED_TYPES: Readonly<Record<string, string>> = {
  symlink: "symlink",
  link: "hard link",
  "character-device": "device",
  "block-device": "device",
  fifo: "named pipe",
};

/**
 * Yields the entries of a tar, without directories and with unchanged names. Every byte is counted
 * before it is processed. Each file is in memory as a whole. Throws `UploadRefusal` at the first
 * invalid entry. `length`: length of the source; `null` if unknown. A file that claims to be longer
 * than the source is refused before memory is allocated for it.
 */
export async function* readTar(
  source: ReadableStream<Uint8Array>,
  tally: Tally,
  length: number | null = null,
): AsyncGenerator<ArchiveEntry> {
  const counted = source.pipeThrough(counting((bytes) => tally.expanded(bytes)));
  const entries = counted
    .pipeThrough(refuseUnknownTypes())
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

/** Like `readTar`, for a gzipped tar. */
export function readTarGzip(
  source: ReadableStream<Uint8Array>,
  tally: Tally,
): AsyncGenerator<ArchiveEntry> {
  return readTar(source.pipeThrough(new DecompressionStream("gzip")), tally);
}

/**
 * A stream that does not change its bytes. Before it sends a piece, it calls `count` with the size
 * of the piece. If `count` throws, the stream fails with this error.
 */
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
    throw toRefusal(error);
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
    throw toRefusal(error);
  });
  if (bytes === null) throw invalid(`${quoted(name)} is smaller than its declared size`);
  return { kind: "file", name, bytes, executable: (mode & EXECUTABLE_BITS) !== 0 };
}

function reasonToSkip(
  pax: Record<string, string> | undefined,
  type: string,
  mode: number,
): string | null {
  const typeName = SKIPPED_TYPES[type];
  if (typeName !== undefined) return typeName;
  if (type !== "file" && type !== "directory") return type;
  if ((mode & SETUID_OR_SETGID) !== 0 && type === "file") return "setuid";
  return Object.keys(pax ?? {}).some((key) => key.startsWith("GNU.sparse")) ? "sparse file" : null;
}

/** Converts an error of the decoder, because it means that the archive is invalid. */
const toRefusal = (error: unknown): unknown => {
  if (error instanceof UploadRefusal) return error;
  return invalid(
    error instanceof Error ? error.message.replace(/\.$/, "") : "the archive cannot be read",
  );
};

const invalid = (problem: string): UploadRefusal =>
  new UploadRefusal("archive_invalid", `Invalid archive: ${problem}. Create the archive again.`);
