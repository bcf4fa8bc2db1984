/** A file of a tar archive. An upload uses the hash of the contents as the name. */
export type TarEntry = { name: string; data: Uint8Array };

const BLOCK = 512;
const encoder = new TextEncoder();

/** A tar archive (POSIX ustar) of plain files. Names have at most 100 ASCII characters. */
export function toTar(entries: readonly TarEntry[]): Uint8Array<ArrayBuffer> {
  const sizes = entries.map(({ data }) => BLOCK + Math.ceil(data.byteLength / BLOCK) * BLOCK);
  const archive = new Uint8Array(sizes.reduce((sum, size) => sum + size, 2 * BLOCK));
  let offset = 0;
  for (const [index, { name, data }] of entries.entries()) {
    archive.set(headerOf(name, data.byteLength), offset);
    archive.set(data, offset + BLOCK);
    offset += sizes[index] ?? 0;
  }
  return archive;
}

/**
 * Writes name, mode, owner, group, size, time, checksum, type and magic. Numbers are octal. The
 * checksum is the sum of all bytes of the header, with spaces in the field of the checksum.
 */
function headerOf(name: string, size: number): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const write = (text: string, offset: number) => header.set(encoder.encode(text), offset);
  write(name, 0);
  write("0000644\0", 100);
  write("0000000\0", 108);
  write("0000000\0", 116);
  write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  write("00000000000\0", 136);
  write("        ", 148);
  write("0", 156);
  write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
