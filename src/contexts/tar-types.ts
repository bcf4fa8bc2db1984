import { quoted, UploadRefusal } from "./refusals";

const BLOCK = 512;
const TYPE_AT = 156;
const SIZE = { from: 124, to: 136 };
const CHECKSUM = { from: 148, to: 156 };
/** Files in three spellings, links, devices, directories, pipes, and what tells names and sizes ahead. */
const KNOWN = new Set("\x0001234567xgLK");
const SPACE = 32;

/**
 * Passes a tar on as it comes, and throws `UploadRefusal` at an entry of a type that the decoder does not know and would take for a
 * plain file: old GNU sparse files, continued volumes, whatever a vendor made up. What it cannot follow it leaves to the decoder.
 */
export function refusingUnknownTypes(): TransformStream<Uint8Array, Uint8Array> {
  const block = new Uint8Array(BLOCK);
  let [filled, bodyLeft, isFollowing] = [0, 0, true];
  const look = (piece: Uint8Array): void => {
    for (let at = 0; at < piece.byteLength && isFollowing; ) {
      if (bodyLeft > 0) {
        const passed = Math.min(bodyLeft, piece.byteLength - at);
        [bodyLeft, at] = [bodyLeft - passed, at + passed];
        continue;
      }
      const part = piece.subarray(at, at + BLOCK - filled);
      block.set(part, filled);
      [filled, at] = [(filled + part.byteLength) % BLOCK, at + part.byteLength];
      if (filled > 0) continue;
      isFollowing = isHeader(block);
      if (isFollowing) bodyLeft = paddedSize(block);
    }
  };
  return new TransformStream({
    transform(piece, controller) {
      look(piece);
      controller.enqueue(piece);
    },
  });
}

/** Whether a block is a header. Throws `UploadRefusal` if it is one of an unknown type. */
function isHeader(block: Uint8Array): boolean {
  const counted = block.reduce((sum, byte, at) => sum + (at >= CHECKSUM.from && at < CHECKSUM.to ? SPACE : byte), 0);
  if (octal(block, CHECKSUM) !== counted) return false;
  const type = String.fromCharCode(block[TYPE_AT] ?? 0);
  if (KNOWN.has(type)) return true;
  const name = textOf(block.subarray(0, 100));
  throw new UploadRefusal(
    "archive_invalid",
    `The archive cannot be taken: ${quoted(name)} is of the type ${quoted(type)}, which is no plain file. Pack it anew, without sparse files or volumes.`,
  );
}

/** Of the body with what fills its last block. */
const paddedSize = (block: Uint8Array): number => Math.ceil(octal(block, SIZE) / BLOCK) * BLOCK;

function octal(block: Uint8Array, { from, to }: { from: number; to: number }): number {
  const digits = textOf(block.subarray(from, to)).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : 0;
}

/** Up to the first zero byte. */
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).split("\0", 1)[0] ?? "";
