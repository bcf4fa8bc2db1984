import { crc32 } from "../../src/uploads/read-zip";
import { deflateSync } from "fflate";

/** Zips written byte by byte, so that each field can be wrong. */
export type Corruptions = Partial<{
  name: Uint8Array;
  flags: number;
  method: number;
  crc: number;
  packedSize: number;
  size: number;
  offset: number;
  extra: Uint8Array;
  /** Unix mode; 0 if made on another system. */
  mode: number;
  /** Wrong values in the local header. */
  local: Partial<{
    name: Uint8Array;
    method: number;
    crc: number;
    packedSize: number;
    size: number;
    flags: number;
  }>;
}>;
export type Member = {
  name: string;
  content?: Uint8Array | string;
  stored?: true;
  corruptions?: Corruptions;
};
export type End = Partial<{
  entries: number;
  here: number;
  bytes: number;
  offset: number;
  disk: number;
  comment: Uint8Array;
  cut: number;
}>;

const bytesOf = (value: Uint8Array | string): Uint8Array =>
  typeof value === "string" ? new TextEncoder().encode(value) : value;
const concat = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

function record(fields: readonly (readonly [size: 2 | 4, value: number])[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value >>> 0, true);
    at += size;
  }
  return bytes;
}

const sizesOf = ({ crc, packedSize, size }: { crc: number; packedSize: number; size: number }) =>
  [
    [4, crc],
    [4, packedSize],
    [4, size],
  ] as const;

/** The local header of a member, its contents, and its directory entry. */
function memberAt(
  at: number,
  { name, content = "", stored, corruptions = {} }: Member,
): { local: Uint8Array[]; central: Uint8Array[] } {
  const plain = bytesOf(content);
  const packed = stored ? plain : deflateSync(plain);
  const kind = {
    name: bytesOf(name),
    flags: 0x0800,
    method: stored ? 0 : 8,
    extra: new Uint8Array(),
    mode: 0,
    offset: at,
  };
  const fields = {
    ...kind,
    crc: crc32(plain),
    packedSize: packed.byteLength,
    size: plain.byteLength,
    ...corruptions,
  };
  const front = { ...fields, ...corruptions.local };
  const nameBytes = front.name.byteLength;
  const header = record([
    [4, 0x04034b50],
    [2, 20],
    [2, front.flags],
    [2, front.method],
    [4, 0],
    ...sizesOf(front),
    [2, nameBytes],
    [2, 0],
  ]);
  const entry = record([
    [4, 0x02014b50],
    [2, fields.mode === 0 ? 20 : 0x0314],
    [2, 20],
    [2, fields.flags],
    [2, fields.method],
    [4, 0],
    ...sizesOf(fields),
    [2, fields.name.byteLength],
    [2, fields.extra.byteLength],
    [2, 0],
    [4, 0],
    [4, fields.mode * 0x10000],
    [4, fields.offset],
  ]);
  return { local: [header, front.name, packed], central: [entry, fields.name, fields.extra] };
}

/** A zip of these members; `end`: wrong values in its end record. */
export function zipOf(members: readonly Member[], end: End = {}): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const member of members) {
    const { local, central } = memberAt(at, member);
    parts.push(...local);
    directory.push(...central);
    at += local.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
  const central = concat(directory);
  const {
    entries = members.length,
    here = entries,
    bytes = central.byteLength,
    offset = at,
    disk = 0,
    comment = new Uint8Array(),
  } = end;
  const last = record([
    [4, 0x06054b50],
    [2, disk],
    [2, 0],
    [2, here],
    [2, entries],
    [4, bytes],
    [4, offset],
    [2, comment.byteLength],
  ]);
  const whole = concat([...parts, central, last, comment]);
  return whole.slice(0, whole.byteLength - (end.cut ?? 0));
}
