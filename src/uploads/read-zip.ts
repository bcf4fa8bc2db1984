import { Inflate } from "fflate";
import { ByteQueue } from "./byte-queue";
import type { ArchiveEntry } from "./read-tar";
import { quoted, UploadRefusal } from "./refusals";
import type { Tally } from "./tally";
import {
  findDirectory,
  invalid,
  readDirectory,
  viewOf,
  ZIP_TAIL_BYTES,
  type ZipEntry,
} from "./zip-directory";

/**
 * A stored zip. The directory is at the end of a zip, so a zip must be stored before it can be
 * read.
 */
export type ZipSource = {
  size: number;
  /** Reads `length` bytes from `offset`. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The whole zip as a stream. */
  stream(): AsyncIterable<Uint8Array>;
};

// Sizes and offsets of fields are those of the zip specification (APPNOTE.TXT, section 4.3).
const LOCAL_HEADER_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;
/** Packed bytes are unpacked in slices. Deflate expands a slice at most 1,032 times, to 4.2 MB. */
const SLICE_BYTES = 4_096;
/** Packed contents can be slightly larger than the file, because stored blocks have headers. */
const PACKED_SLACK_BYTES = 1_024;
const MAX_DIRECTORY_BYTES = 8_000_000;

/** The bits of a Unix mode with the kind of the file. */
const KIND_MASK = 0o170000;
const REGULAR_FILE = 0o100000;
const DIRECTORY = 0o040000;
const SPECIAL_KINDS = new Map([
  [0o120000, "symlink"],
  [0o020000, "device"],
  [0o060000, "device"],
  [0o010000, "named pipe"],
]);
const SETUID_OR_SETGID = 0o6000;
const EXECUTABLE_BITS = 0o111;

/**
 * Yields the entries of a zip in the stored order, without directories. Checks that the local
 * headers and contents match the zip's directory. Throws `UploadRefusal` at the first invalid
 * entry. Only unpacked contents are in memory, and only once.
 */
export async function* readZip(source: ZipSource, tally: Tally): AsyncGenerator<ArchiveEntry> {
  const entries = await directoryOf(source, tally);
  const names = new Set<string>();
  const queue = new ByteQueue(source.stream());
  for (const entry of entries) {
    if (names.has(entry.name)) throw invalid(`${quoted(entry.name)} occurs twice`);
    names.add(entry.name);
    const reason = reasonToSkip(entry);
    const isDirectory = entry.name.endsWith("/");
    if (reason !== null) yield { kind: "skipped", name: entry.name, reason };
    if (reason !== null || isDirectory) continue;
    tally.file(entry.name, entry.size);
    await skipLocalHeader(queue, entry);
    const bytes = await unpack(entry, queue, tally);
    yield {
      kind: "file",
      name: entry.name,
      bytes,
      executable: (entry.mode & EXECUTABLE_BITS) !== 0,
    };
  }
}

async function directoryOf(source: ZipSource, tally: Tally): Promise<ZipEntry[]> {
  const tailBytes = Math.min(source.size, ZIP_TAIL_BYTES);
  const tail = await source.read(source.size - tailBytes, tailBytes);
  const { offset, bytes, entries } = findDirectory(tail, source.size);
  if (bytes > MAX_DIRECTORY_BYTES)
    throw new UploadRefusal(
      "context_too_large",
      "The directory of the zip is larger than 8 MB. Upload fewer files, or send a tar.",
    );
  return readDirectory(await source.read(offset, bytes), entries, offset, tally);
}

function reasonToSkip({ mode, name }: ZipEntry): string | null {
  const kind = mode & KIND_MASK;
  if (kind === 0 || kind === REGULAR_FILE) return (mode & SETUID_OR_SETGID) !== 0 ? "setuid" : null;
  if (kind === DIRECTORY) return name.endsWith("/") ? null : "directory";
  return SPECIAL_KINDS.get(kind) ?? "special file";
}

/** Skips the local header of an entry. Throws if the header does not match the directory. */
async function skipLocalHeader(queue: ByteQueue, entry: ZipEntry): Promise<void> {
  await queue.skipTo(entry.offset);
  const header = await queue.take(LOCAL_HEADER_BYTES);
  const view = viewOf(header);
  if (header.byteLength < LOCAL_HEADER_BYTES || view.getUint32(0, true) !== LOCAL_SIGNATURE)
    throw invalid(`${quoted(entry.name)} is not at the position in the directory`);
  const name = await queue.take(view.getUint16(26, true));
  await queue.take(view.getUint16(28, true));
  const flags = view.getUint16(6, true);
  /** The checksum and sizes follow the contents; then the local header has zeros for them. */
  const hasSizesAfter = (flags & 0x0008) !== 0;
  const expected = [entry.crc, entry.packedSize, entry.size];
  const local = [14, 18, 22].map((offset) => view.getUint32(offset, true));
  const hasSameSizes = local.every(
    (value, index) => value === expected[index] || (hasSizesAfter && value === 0),
  );
  if (
    !hasSameSizes ||
    (flags & 0x0041) !== 0 ||
    view.getUint16(8, true) !== entry.method ||
    new TextDecoder().decode(name) !== entry.name
  )
    throw invalid(`${quoted(entry.name)} does not match its entry in the directory`);
  if (entry.packedSize > entry.size + entry.size / 8 + PACKED_SLACK_BYTES)
    throw invalid(`${quoted(entry.name)} is larger packed than unpacked`);
}

/** Reads the entry's contents. Stops at the first byte beyond the declared size. */
async function unpack(
  entry: ZipEntry,
  queue: ByteQueue,
  tally: Tally,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(entry.size);
  let size = 0;
  const addContents = (piece: Uint8Array) => {
    tally.expanded(piece.byteLength);
    if (size + piece.byteLength > entry.size)
      throw invalid(`${quoted(entry.name)} is larger than its declared size`);
    bytes.set(piece, size);
    size += piece.byteLength;
  };
  const addPacked = entry.method === 0 ? addContents : createInflater(entry, addContents);
  let remaining = entry.packedSize;
  for await (const packed of queue.pieces(entry.packedSize)) {
    remaining -= packed.byteLength;
    addPacked(packed, remaining === 0);
  }
  if (remaining > 0) throw invalid(`${quoted(entry.name)} is cut off`);
  if (size !== entry.size) throw invalid(`${quoted(entry.name)} is smaller than its declared size`);
  if (crc32(bytes) !== entry.crc)
    throw invalid(`${quoted(entry.name)} does not match its checksum`);
  return bytes;
}

/**
 * Returns a function that unpacks a piece and calls `addContents` with the contents. `isLast`:
 * whether the piece is the last one.
 */
function createInflater(
  { name }: ZipEntry,
  addContents: (piece: Uint8Array) => void,
): (packed: Uint8Array, isLast: boolean) => void {
  const inflater = new Inflate((piece) => addContents(piece));
  return (packed, isLast) => {
    try {
      for (let start = 0; start < packed.byteLength; start += SLICE_BYTES) {
        const end = start + SLICE_BYTES;
        inflater.push(packed.subarray(start, end), isLast && end >= packed.byteLength);
      }
    } catch (error) {
      if (error instanceof UploadRefusal) throw error;
      throw invalid(`${quoted(name)} cannot be unpacked`);
    }
  };
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The checksum (CRC-32) of a file in a zip. */
export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (CRC_TABLE[(value ^ byte) & 0xff] ?? 0);
  return (value ^ 0xffffffff) >>> 0;
}
