import { quoted, UploadRefusal } from "./refusals";
import type { Tally } from "./tally";

/**
 * The central directory of a zip, the only source of its entries. Strict, because two readers must
 * not see different archives: one directory, directly before the end record; entries do not
 * overlap; no zip64, encryption or multiple disks.
 */
export type ZipEntry = {
  name: string;
  /** 0: stored, 8: deflated. */
  method: number;
  crc: number;
  packedSize: number;
  size: number;
  /** Offset of its local header. */
  offset: number;
  /** Unix mode; 0 if the archive has none. */
  mode: number;
};

/** Bytes at the end of a zip that locate its directory: the end record and the longest comment. */
export const ZIP_TAIL_BYTES = 22 + 0xffff;
const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const CENTRAL_BYTES = 46;
const CENTRAL_SIGNATURE = 0x02014b50;
const ZIP64_32 = 0xffffffff;
const ZIP64_16 = 0xffff;
const ZIP64_EXTRA = 0x0001;
const ENCRYPTED = 0x0041; // traditional or strong encryption
const UTF8 = 0x0800;
const MADE_ON_UNIX = [3, 19];
const METHODS = [0, 8];

/**
 * Position of the directory, and its number of entries. `tail` are the last bytes of a zip of
 * `size` bytes.
 */
export function findDirectory(
  tail: Uint8Array,
  size: number,
): { offset: number; bytes: number; entries: number } {
  const at = endRecordAt(tail);
  if (at === null)
    throw invalid("it has no directory at its end, so it is not a zip or not complete");
  const view = viewOf(tail);
  const [disk, directoryDisk] = [view.getUint16(at + 4, true), view.getUint16(at + 6, true)];
  const [here, entries] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
  const [bytes, offset] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)];
  if (
    [disk, directoryDisk, here, entries].includes(ZIP64_16) ||
    bytes === ZIP64_32 ||
    offset === ZIP64_32
  )
    throw invalid("zip64 is not supported, and archives within the size limit do not need it");
  if (disk !== 0 || directoryDisk !== 0 || here !== entries)
    throw invalid("it is one part of a split archive");
  if (offset + bytes !== size - tail.byteLength + at)
    throw invalid("its directory is not at the declared position");
  return { offset, bytes, entries };
}

/** Finds the signature whose comment ends at the end of the archive; `null` if there is none. */
function endRecordAt(tail: Uint8Array): number | null {
  const view = viewOf(tail);
  for (let at = tail.byteLength - END_BYTES; at >= 0; at -= 1) {
    const isEnd = view.getUint32(at, true) === END_SIGNATURE;
    if (isEnd && at + END_BYTES + view.getUint16(at + 20, true) === tail.byteLength) return at;
  }
  return null;
}

/** The entries in the order of their contents. `start` is the offset of the directory. */
export function readDirectory(
  directory: Uint8Array,
  entries: number,
  start: number,
  tally: Tally,
): ZipEntry[] {
  const found: ZipEntry[] = [];
  let at = 0;
  for (let nth = 0; nth < entries; nth += 1) {
    tally.entry();
    const { entry, next } = readEntry(directory, at);
    found.push(entry);
    at = next;
  }
  if (at !== directory.byteLength) throw invalid("its directory is larger than declared");
  found.sort((one, other) => one.offset - other.offset);
  requireApart(found, start);
  return found;
}

function readEntry(directory: Uint8Array, at: number): { entry: ZipEntry; next: number } {
  const view = viewOf(directory);
  if (at + CENTRAL_BYTES > directory.byteLength || view.getUint32(at, true) !== CENTRAL_SIGNATURE)
    throw invalid("its directory cannot be read");
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
    view.getUint16(at + field, true),
  );
  const nameEnd = at + CENTRAL_BYTES + (nameBytes ?? 0);
  const next = nameEnd + (extraBytes ?? 0) + (commentBytes ?? 0);
  if (next > directory.byteLength) throw invalid("its directory is cut off");
  const flags = view.getUint16(at + 8, true);
  const name = decodeName(directory.subarray(at + CENTRAL_BYTES, nameEnd), flags);
  const entry: ZipEntry = {
    name,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    packedSize: view.getUint32(at + 20, true),
    size: view.getUint32(at + 24, true),
    offset: view.getUint32(at + 42, true),
    mode: MADE_ON_UNIX.includes(view.getUint8(at + 5)) ? view.getUint32(at + 38, true) >>> 16 : 0,
  };
  requirePlain(entry, flags, directory.subarray(nameEnd, nameEnd + (extraBytes ?? 0)));
  return { entry, next };
}

function requirePlain(entry: ZipEntry, flags: number, extra: Uint8Array): void {
  const name = quoted(entry.name);
  if ((flags & ENCRYPTED) !== 0) throw invalid(`${name} is encrypted`);
  if (
    [entry.packedSize, entry.size, entry.offset].includes(ZIP64_32) ||
    hasExtra(extra, ZIP64_EXTRA)
  )
    throw invalid(`${name} uses zip64, which is not supported`);
  if (!METHODS.includes(entry.method))
    throw invalid(`${name} uses a compression method that is not supported; use deflate`);
  if (entry.method === 0 && entry.packedSize !== entry.size) throw invalid(`${name} has two sizes`);
}

function hasExtra(extra: Uint8Array, id: number): boolean {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) === id) return true;
  }
  return false;
}

/** UTF-8 if flagged; else ASCII only, because the encoding of other bytes is unknown. */
function decodeName(bytes: Uint8Array, flags: number): string {
  try {
    const name = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if ((flags & UTF8) !== 0 || /^[\x20-\x7e]*$/.test(name)) return name;
  } catch {
    // Reported below.
  }
  throw invalid("it has a name that is neither UTF-8 nor ASCII");
}

/** Minimum size of an entry: local header, name, contents. */
const LOCAL_BYTES = 30;

function requireApart(entries: readonly ZipEntry[], start: number): void {
  for (const [nth, { name, offset, packedSize }] of entries.entries()) {
    const end = offset + LOCAL_BYTES + packedSize;
    if (end > (entries[nth + 1]?.offset ?? start))
      throw invalid(`${quoted(name)} overlaps the next entry`);
  }
}

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const invalid = (what: string): UploadRefusal =>
  new UploadRefusal("archive_invalid", `Invalid zip: ${what}. Create the archive again.`);
