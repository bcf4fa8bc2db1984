import { quoted, UploadRefusal } from "./refusals";

const BLOCK = 512;
const TYPE_AT = 156;
const SIZE = { from: 124, to: 136 };
const CHECKSUM = { from: 148, to: 156 };
/**
 * Types that the decoder knows: files, links, devices, directories, pipes, and records for names
 * and sizes.
 */
const KNOWN = new Set("\x0001234567xgLK");
/** For these types the decoder skips no body, even if the header has a size. */
const BODYLESS = new Set("123456");
/** Records for later entries, and the decoder's limit of their size. */
const RECORDS = new Set("xg");
const MOST_RECORD_BYTES = 8 * 1024 * 1024;
const SPACE = 32;

/**
 * Passes a tar through, and throws `UploadRefusal` at an entry of an unknown type, which the
 * decoder would treat as a plain file: old GNU sparse files, continued volumes, vendor types. Reads
 * sizes as the decoder does, so that both see the same headers. Stops checking at a block that is
 * not a header: after it, the decoder accepts only zeros.
 */
export function refusingUnknownTypes(): TransformStream<Uint8Array, Uint8Array> {
  const block = new Uint8Array(BLOCK);
  let [filled, bodyLeft, isFollowing] = [0, 0, true];
  let records: { bytes: Uint8Array; filled: number } | null = null;

  const passBody = (piece: Uint8Array): void => {
    bodyLeft -= piece.byteLength;
    if (records === null) return;
    records.bytes.set(piece.subarray(0, records.bytes.byteLength - records.filled), records.filled);
    records.filled = Math.min(records.filled + piece.byteLength, records.bytes.byteLength);
    if (bodyLeft > 0) return;
    checkRecords(records.bytes);
    records = null;
  };
  const begin = (type: string, size: number): void => {
    bodyLeft = BODYLESS.has(type) ? 0 : Math.ceil(size / BLOCK) * BLOCK;
    if (!RECORDS.has(type) || size === 0) return;
    if (size > MOST_RECORD_BYTES) throw refusal("it has a record that is too long");
    records = { bytes: new Uint8Array(size), filled: 0 };
  };
  const look = (piece: Uint8Array): void => {
    for (let at = 0; at < piece.byteLength && isFollowing; ) {
      if (bodyLeft > 0) {
        const part = piece.subarray(at, at + Math.min(bodyLeft, piece.byteLength));
        at += part.byteLength;
        passBody(part);
        continue;
      }
      const part = piece.subarray(at, at + BLOCK - filled);
      block.set(part, filled);
      [filled, at] = [(filled + part.byteLength) % BLOCK, at + part.byteLength];
      if (filled > 0) continue;
      isFollowing = isHeader(block);
      if (isFollowing) begin(typeOf(block), numberAt(block, SIZE));
    }
  };
  return new TransformStream({
    transform(piece, controller) {
      look(piece);
      controller.enqueue(piece);
    },
  });
}

/** Whether a block is a header. Throws `UploadRefusal` if its type is unknown. */
function isHeader(block: Uint8Array): boolean {
  const counted = block.reduce(
    (sum, byte, at) => sum + (at >= CHECKSUM.from && at < CHECKSUM.to ? SPACE : byte),
    0,
  );
  if (octal(block.subarray(CHECKSUM.from, CHECKSUM.to)) !== counted) return false;
  const type = typeOf(block);
  if (KNOWN.has(type)) return true;
  throw refusal(`${quoted(textOf(block.subarray(0, 100)))} has the unknown type ${quoted(type)}`);
}

const typeOf = (block: Uint8Array): string => String.fromCharCode(block[TYPE_AT] ?? 0);

/**
 * Throws `UploadRefusal` for a record that replaces a later entry's size: only files of 8 GiB and
 * more need one, and it could hide entries. Splits records as the decoder does, also malformed
 * ones.
 */
function checkRecords(bytes: Uint8Array): void {
  const decoder = new TextDecoder();
  for (let at = 0; at < bytes.byteLength; ) {
    const space = bytes.indexOf(SPACE, at);
    const length = space < 0 ? 0 : Number.parseInt(decoder.decode(bytes.subarray(at, space)), 10);
    if (!(length > 0)) return;
    if (decoder.decode(bytes.subarray(space + 1, at + length - 1)).startsWith("size="))
      throw refusal("a record outside the file's header declares the file's size");
    at += length;
  }
}

/**
 * Octal, or binary if the first byte has its highest bit set. NaN otherwise, which the decoder
 * refuses.
 */
function numberAt(block: Uint8Array, { from, to }: { from: number; to: number }): number {
  const [first = 0, ...rest] = block.subarray(from, to);
  if (first < 128) return octal(block.subarray(from, to));
  return rest.reduce((value, byte) => value * 256 + byte, first - 128);
}

/** Ignores spaces; a zero byte ends it. */
function octal(bytes: Uint8Array): number {
  const digits = textOf(bytes).replaceAll(" ", "");
  return /^[0-7]*$/.test(digits) ? Number.parseInt(`0${digits}`, 8) : Number.NaN;
}

/** The text before the first zero byte. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).split("\0", 1)[0] ?? "";

const refusal = (what: string): UploadRefusal =>
  new UploadRefusal(
    "archive_invalid",
    `Invalid archive: ${what}. Create the archive again without sparse files or volumes.`,
  );
