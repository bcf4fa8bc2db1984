import { crc32 } from "../../src/uploads/read-zip";
import { deflateSync } from "fflate";

// Writes zips field by field, so that each field can have a wrong value.

/** Wrong values in the directory entry of a member. */
export type Corruptions = Partial<{
  name: Uint8Array;
  flags: number;
  method: number;
  crc: number;
  packedSize: number;
  size: number;
  offset: number;
  extra: Uint8Array;
  /** Unix mode; 0 if the member was created on another system. */
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
/** A file in a zip. `stored`: not compressed. */
export type Member = {
  name: string;
  content?: Uint8Array | string;
  stored?: true;
  corruptions?: Corruptions;
};
/** Wrong values in the end record. `missingBytes`: number of bytes that are cut off at the end. */
export type End = Partial<{
  entries: number;
  entriesOnDisk: number;
  bytes: number;
  offset: number;
  disk: number;
  comment: Uint8Array;
  missingBytes: number;
}>;

const bytesOf = (value: Uint8Array | string): Uint8Array =>
  typeof value === "string" ? new TextEncoder().encode(value) : value;
const concat = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

function encodeFields(fields: readonly (readonly [size: 2 | 4, value: number])[]): Uint8Array {
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

/** The local header and contents of a member that starts at `at`, and its directory entry. */
function encodeMember(
  at: number,
  { name, content = "", stored, corruptions = {} }: Member,
): { local: Uint8Array[]; central: Uint8Array[] } {
  const contents = bytesOf(content);
  const packed = stored ? contents : deflateSync(contents);
  const defaults = {
    name: bytesOf(name),
    flags: 0x0800,
    method: stored ? 0 : 8,
    extra: new Uint8Array(),
    mode: 0,
    offset: at,
  };
  const fields = {
    ...defaults,
    crc: crc32(contents),
    packedSize: packed.byteLength,
    size: contents.byteLength,
    ...corruptions,
  };
  const localFields = { ...fields, ...corruptions.local };
  const nameBytes = localFields.name.byteLength;
  const header = encodeFields([
    [4, 0x04034b50],
    [2, 20],
    [2, localFields.flags],
    [2, localFields.method],
    [4, 0],
    ...sizesOf(localFields),
    [2, nameBytes],
    [2, 0],
  ]);
  const entry = encodeFields([
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
  return { local: [header, localFields.name, packed], central: [entry, fields.name, fields.extra] };
}

/** A zip of these members. */
export function zipOf(members: readonly Member[], end: End = {}): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  for (const member of members) {
    const { local, central } = encodeMember(at, member);
    parts.push(...local);
    directory.push(...central);
    at += local.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
  const central = concat(directory);
  const {
    entries = members.length,
    entriesOnDisk = entries,
    bytes = central.byteLength,
    offset = at,
    disk = 0,
    comment = new Uint8Array(),
  } = end;
  const endRecord = encodeFields([
    [4, 0x06054b50],
    [2, disk],
    [2, 0],
    [2, entriesOnDisk],
    [2, entries],
    [4, bytes],
    [4, offset],
    [2, comment.byteLength],
  ]);
  const zip = concat([...parts, central, endRecord, comment]);
  return zip.slice(0, zip.byteLength - (end.missingBytes ?? 0));
}
