import { quoted, UploadRefusal } from "./refusals";
import type { Tally } from "./tally";

/**
 * An entry in the central directory of a zip. All entries are read from this directory.
 *
 * This file is strict, because two readers must not see different archives. The zip must have one
 * directory directly before the end record, and its entries must not overlap. Zip64, encryption and
 * multiple disks are refused.
 */
export type ZipEntry = {
  name: string;
  /** Compression method. 0: stored, 8: deflated. */
  method: number;
  crc: number;
  packedSize: number;
  /** Size of the unpacked file. */
  size: number;
  /** Offset of the entry's local header. */
  offset: number;
  /** Unix mode; 0 if the archive has none. */
  mode: number;
};

/** Bytes at the end of a zip that can contain its end record: the record and a longest comment. */
export const ZIP_TAIL_BYTES = 22 + 0xffff;
// Sizes and offsets of fields are those of the zip specification (APPNOTE.TXT, section 4.3).
const END_RECORD_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const CENTRAL_HEADER_BYTES = 46;
const CENTRAL_SIGNATURE = 0x02014b50;
/** Values of 32-bit and 16-bit fields whose real value is in a zip64 record. */
const ZIP64_32 = 0xffffffff;
const ZIP64_16 = 0xffff;
const ZIP64_EXTRA = 0x0001;
const ENCRYPTED = 0x0041; // traditional or strong encryption
const UTF8 = 0x0800;
/** Numbers of the systems Unix and macOS. Only their entries have a Unix mode. */
const UNIX_SYSTEMS = [3, 19];
const METHODS = [0, 8];

/**
 * The position and size of the directory, and the number of its entries. `tail`: the last bytes of
 * a zip of `size` bytes.
 */
export function findDirectory(
  tail: Uint8Array,
  size: number,
): { offset: number; bytes: number; entries: number } {
  const position = findEndRecord(tail);
  if (position === null)
    throw invalid("it has no directory at its end, so it is not a zip or not complete");
  const view = viewOf(tail);
  const [disk, directoryDisk] = [
    view.getUint16(position + 4, true),
    view.getUint16(position + 6, true),
  ];
  const [entriesOnDisk, entries] = [
    view.getUint16(position + 8, true),
    view.getUint16(position + 10, true),
  ];
  const [bytes, offset] = [
    view.getUint32(position + 12, true),
    view.getUint32(position + 16, true),
  ];
  if (
    [disk, directoryDisk, entriesOnDisk, entries].includes(ZIP64_16) ||
    bytes === ZIP64_32 ||
    offset === ZIP64_32
  )
    throw invalid("zip64 is not supported, and archives within the size limit do not need it");
  if (disk !== 0 || directoryDisk !== 0 || entriesOnDisk !== entries)
    throw invalid("it is one part of a split archive");
  if (offset + bytes !== size - tail.byteLength + position)
    throw invalid("its directory is not at the declared position");
  return { offset, bytes, entries };
}

/**
 * The position of the end record in the last bytes of a zip; `null` if there is none. The comment
 * of the end record must end at the end of the zip.
 */
function findEndRecord(tail: Uint8Array): number | null {
  const view = viewOf(tail);
  for (let position = tail.byteLength - END_RECORD_BYTES; position >= 0; position -= 1) {
    const isEnd = view.getUint32(position, true) === END_SIGNATURE;
    if (
      isEnd &&
      position + END_RECORD_BYTES + view.getUint16(position + 20, true) === tail.byteLength
    )
      return position;
  }
  return null;
}

/**
 * Reads the entries, sorted by the position of their contents. `start`: offset of the directory in
 * the zip.
 */
export function readDirectory(
  directory: Uint8Array,
  entries: number,
  start: number,
  tally: Tally,
): ZipEntry[] {
  const result: ZipEntry[] = [];
  let position = 0;
  for (let index = 0; index < entries; index += 1) {
    tally.entry();
    const { entry, next } = readEntry(directory, position);
    result.push(entry);
    position = next;
  }
  if (position !== directory.byteLength) throw invalid("its directory is larger than declared");
  result.sort((one, other) => one.offset - other.offset);
  requireNoOverlap(result, start);
  return result;
}

function readEntry(directory: Uint8Array, position: number): { entry: ZipEntry; next: number } {
  const view = viewOf(directory);
  if (
    position + CENTRAL_HEADER_BYTES > directory.byteLength ||
    view.getUint32(position, true) !== CENTRAL_SIGNATURE
  )
    throw invalid("its directory cannot be read");
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
    view.getUint16(position + field, true),
  );
  const nameEnd = position + CENTRAL_HEADER_BYTES + (nameBytes ?? 0);
  const next = nameEnd + (extraBytes ?? 0) + (commentBytes ?? 0);
  if (next > directory.byteLength) throw invalid("its directory is cut off");
  const flags = view.getUint16(position + 8, true);
  const name = decodeName(directory.subarray(position + CENTRAL_HEADER_BYTES, nameEnd), flags);
  const entry: ZipEntry = {
    name,
    method: view.getUint16(position + 10, true),
    crc: view.getUint32(position + 16, true),
    packedSize: view.getUint32(position + 20, true),
    size: view.getUint32(position + 24, true),
    offset: view.getUint32(position + 42, true),
    mode: UNIX_SYSTEMS.includes(view.getUint8(position + 5))
      ? view.getUint32(position + 38, true) >>> 16
      : 0,
  };
  requireSupported(entry, flags, directory.subarray(nameEnd, nameEnd + (extraBytes ?? 0)));
  return { entry, next };
}

function requireSupported(entry: ZipEntry, flags: number, extra: Uint8Array): void {
  const name = quoted(entry.name);
  if ((flags & ENCRYPTED) !== 0) throw invalid(`${name} is encrypted`);
  if (
    [entry.packedSize, entry.size, entry.offset].includes(ZIP64_32) ||
    hasExtraField(extra, ZIP64_EXTRA)
  )
    throw invalid(`${name} uses zip64, which is not supported`);
  if (!METHODS.includes(entry.method))
    throw invalid(`${name} uses a compression method that is not supported; use deflate`);
  if (entry.method === 0 && entry.packedSize !== entry.size) throw invalid(`${name} has two sizes`);
}

function hasExtraField(extra: Uint8Array, id: number): boolean {
  const view = viewOf(extra);
  for (
    let position = 0;
    position + 4 <= extra.byteLength;
    position += 4 + view.getUint16(position + 2, true)
  ) {
    if (view.getUint16(position, true) === id) return true;
  }
  return false;
}

/**
 * Decodes the name of an entry. Without the UTF-8 flag, only ASCII is permitted, because the
 * encoding of other bytes is unknown.
 */
function decodeName(bytes: Uint8Array, flags: number): string {
  try {
    const name = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if ((flags & UTF8) !== 0 || /^[\x20-\x7e]*$/.test(name)) return name;
  } catch {
    // The error after this block reports invalid UTF-8.
  }
  throw invalid("it has a name that is neither UTF-8 nor ASCII");
}

/** Size of a local header without the name. */
const LOCAL_HEADER_BYTES = 30;

function requireNoOverlap(entries: readonly ZipEntry[], start: number): void {
  for (const [index, { name, offset, packedSize }] of entries.entries()) {
    const end = offset + LOCAL_HEADER_BYTES + packedSize;
    if (end > (entries[index + 1]?.offset ?? start))
      throw invalid(`${quoted(name)} overlaps the next entry`);
  }
}

/** A view of the bytes, for reading numbers. */
export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The refusal of an invalid zip. `problem`: a clause. */
export const invalid = (problem: string): UploadRefusal =>
  new UploadRefusal("archive_invalid", `Invalid zip: ${problem}. Create the archive again.`);
