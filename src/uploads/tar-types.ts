import { quoted, UploadRefusal } from "./refusals";

const BLOCK_BYTES = 512;
const TYPE_OFFSET = 156;
const SIZE = { from: 124, to: 136 };
const CHECKSUM = { from: 148, to: 156 };
/**
 * Types that the decoder knows: files, links, devices, directories, pipes, and records with names
 * and sizes for other entries.
 */
const KNOWN_TYPES = new Set("\x0001234567xgLK");
/** Types whose entries have no body for the decoder, even if the header has a size. */
const BODYLESS_TYPES = new Set("123456");
/** Types of records that apply to later entries, and the decoder's limit of their size. */
const RECORD_TYPES = new Set("xg");
const MAX_RECORD_BYTES = 8 * 1024 * 1024;
const SPACE = 32;

/**
 * A stream that does not change the tar. It throws `UploadRefusal` at an entry of an unknown type:
 * old GNU sparse files, continued volumes, vendor types. The decoder would treat such an entry as a
 * plain file.
 *
 * The stream reads sizes in the same way as the decoder, so that both find the same headers. It
 * stops checking at the first block that is not a header: after this block, the decoder accepts
 * only zeros.
 */
export function refuseUnknownTypes(): TransformStream<Uint8Array, Uint8Array> {
  const block = new Uint8Array(BLOCK_BYTES);
  let [filled, remainingBody, isChecking] = [0, 0, true];
  let records: { bytes: Uint8Array; filled: number } | null = null;

  const readBody = (piece: Uint8Array): void => {
    remainingBody -= piece.byteLength;
    if (records === null) return;
    records.bytes.set(piece.subarray(0, records.bytes.byteLength - records.filled), records.filled);
    records.filled = Math.min(records.filled + piece.byteLength, records.bytes.byteLength);
    if (remainingBody > 0) return;
    checkRecords(records.bytes);
    records = null;
  };
  const startEntry = (type: string, size: number): void => {
    remainingBody = BODYLESS_TYPES.has(type) ? 0 : Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    if (!RECORD_TYPES.has(type) || size === 0) return;
    if (size > MAX_RECORD_BYTES) throw refusal("it has a record that is too long");
    records = { bytes: new Uint8Array(size), filled: 0 };
  };
  const scan = (piece: Uint8Array): void => {
    for (let position = 0; position < piece.byteLength && isChecking; ) {
      if (remainingBody > 0) {
        const part = piece.subarray(position, position + Math.min(remainingBody, piece.byteLength));
        position += part.byteLength;
        readBody(part);
        continue;
      }
      const part = piece.subarray(position, position + BLOCK_BYTES - filled);
      block.set(part, filled);
      [filled, position] = [(filled + part.byteLength) % BLOCK_BYTES, position + part.byteLength];
      if (filled > 0) continue;
      isChecking = isHeader(block);
      if (isChecking) startEntry(typeOf(block), numberAt(block, SIZE));
    }
  };
  return new TransformStream({
    transform(piece, controller) {
      scan(piece);
      controller.enqueue(piece);
    },
  });
}

/** Whether a block is a header. Throws `UploadRefusal` if its type is unknown. */
function isHeader(block: Uint8Array): boolean {
  const checksum = block.reduce(
    (sum, byte, position) =>
      sum + (position >= CHECKSUM.from && position < CHECKSUM.to ? SPACE : byte),
    0,
  );
  if (parseOctal(block.subarray(CHECKSUM.from, CHECKSUM.to)) !== checksum) return false;
  const type = typeOf(block);
  if (KNOWN_TYPES.has(type)) return true;
  throw refusal(`${quoted(textOf(block.subarray(0, 100)))} has the unknown type ${quoted(type)}`);
}

const typeOf = (block: Uint8Array): string => String.fromCharCode(block[TYPE_OFFSET] ?? 0);

/**
 * Throws `UploadRefusal` for a record that replaces the size of a later entry. Only files of 8 GiB
 * and more need such a record, and it could hide entries. Splits the records in the same way as the
 * decoder, also if they are malformed.
 */
function checkRecords(bytes: Uint8Array): void {
  const decoder = new TextDecoder();
  for (let position = 0; position < bytes.byteLength; ) {
    const space = bytes.indexOf(SPACE, position);
    const length =
      space < 0 ? 0 : Number.parseInt(decoder.decode(bytes.subarray(position, space)), 10);
    if (!(length > 0)) return;
    if (decoder.decode(bytes.subarray(space + 1, position + length - 1)).startsWith("size="))
      throw refusal("a record outside the file's header declares the file's size");
    position += length;
  }
}

/**
 * The number in a header field. It is binary if the first byte has its highest bit set, otherwise
 * octal. Returns NaN for other bytes; the decoder refuses such a field.
 */
function numberAt(block: Uint8Array, { from, to }: { from: number; to: number }): number {
  const [first = 0, ...rest] = block.subarray(from, to);
  if (first < 128) return parseOctal(block.subarray(from, to));
  return rest.reduce((value, byte) => value * 256 + byte, first - 128);
}

/** Parses octal digits. Ignores spaces, and ends at the first zero byte. */
function parseOctal(bytes: Uint8Array): number {
  const digits = textOf(bytes).replaceAll(" ", "");
  return /^[0-7]*$/.test(digits) ? Number.parseInt(`0${digits}`, 8) : Number.NaN;
}

/** The text before the first zero byte. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).split("\0", 1)[0] ?? "";

const refusal = (problem: string): UploadRefusal =>
  new UploadRefusal(
    "archive_invalid",
    `Invalid archive: ${problem}. Create the archive again without sparse files or volumes.`,
  );
