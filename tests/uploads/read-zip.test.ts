import { zipSync } from "fflate";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArchiveEntry } from "../../src/uploads/read-tar";
import { readZip } from "../../src/uploads/read-zip";
import { Tally } from "../../src/uploads/tally";
import { UploadRefusal } from "../../src/uploads/refusals";
import { type End, type Member, zipOf } from "./archives";

const sourceOf = (bytes: Uint8Array, pieceBytes = 1_000) => ({
  size: bytes.byteLength,
  read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
  async *stream() {
    for (let at = 0; at < bytes.byteLength; at += pieceBytes)
      yield bytes.subarray(at, at + pieceBytes);
  },
});

async function entriesOf(
  bytes: Uint8Array,
  tally = new Tally(),
  pieceBytes?: number,
): Promise<ArchiveEntry[]> {
  tally.received(bytes.byteLength);
  return Array.fromAsync(readZip(sourceOf(bytes, pieceBytes), tally));
}
const refusalOf = (bytes: Uint8Array, tally?: Tally) =>
  entriesOf(bytes, tally).then(
    () => "taken",
    (error: unknown) => (error instanceof UploadRefusal ? error : Promise.reject(error)),
  );
const namesOf = (entries: readonly ArchiveEntry[]) => entries.map(({ name }) => name);
const bytesOfSize = (size: number) => new Uint8Array(size).fill(7);

describe("an accepted zip", () => {
  it("yields its files with their contents, for any chunks", async () => {
    const files = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.uint8Array({ maxLength: 3_000 }),
      { maxKeys: 6 },
    );
    await fc.assert(
      fc.asyncProperty(
        files,
        fc.integer({ min: 1, max: 5_000 }),
        fc.constantFrom(0, 6, 9),
        async (files, pieceBytes, level) => {
          const entries = await entriesOf(
            zipSync(files, { level: level as 0 | 6 | 9 }),
            new Tally(),
            pieceBytes,
          );
          const found = entries.map((entry) =>
            entry.kind === "file" ? [entry.name, [...entry.bytes]] : [],
          );
          expect(Object.fromEntries(found)).toEqual(
            Object.fromEntries(Object.entries(files).map(([name, one]) => [name, [...one]])),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    {
      name: "a comment at its end",
      members: [{ name: "a" }],
      end: { comment: new TextEncoder().encode("made by hand") },
    },
    {
      name: "a comment that contains an end record's signature",
      members: [{ name: "a" }],
      end: { comment: Uint8Array.of(0x50, 0x4b, 5, 6, 1, 0) },
    },
    {
      name: "sizes after the contents",
      members: [
        {
          name: "a",
          content: "x",
          corruptions: { flags: 0x0808, local: { crc: 0, packedSize: 0, size: 0 } },
        },
      ],
    },
    {
      name: "an extra field",
      members: [{ name: "a", corruptions: { extra: Uint8Array.of(0x55, 0x54, 1, 0, 9) } }],
    },
    {
      name: "an ASCII name that is not marked as UTF-8",
      members: [{ name: "a", corruptions: { flags: 0 } }],
    },
  ] satisfies { name: string; members: Member[]; end?: End }[])(
    "may have $name",
    async ({ members, end }) => {
      expect(namesOf(await entriesOf(zipOf(members, end)))).toEqual(["a"]);
    },
  );

  it.each([
    { name: "a symlink", mode: 0o120777, kind: "skipped", reason: "symlink" },
    { name: "a device", mode: 0o020666, kind: "skipped", reason: "device" },
    { name: "a named pipe", mode: 0o010666, kind: "skipped", reason: "named pipe" },
    { name: "a setuid file", mode: 0o104755, kind: "skipped", reason: "setuid" },
    { name: "an executable", mode: 0o100755, kind: "file", executable: true },
    { name: "a plain file", mode: 0o100644, kind: "file", executable: false },
  ])("E10 yields $name as $kind", async ({ mode, name: _, ...wanted }) => {
    expect(
      await entriesOf(zipOf([{ name: "a", content: "x", corruptions: { mode } }])),
    ).toMatchObject([wanted]);
  });

  it.each([{ level: 9 }, { level: 0 }] as const)(
    "unpacks a file of compression level $level while its bytes arrive",
    async ({ level }) => {
      const noise = Uint8Array.from(
        { length: 100_000 },
        (_, at) => Math.floor(Math.abs(Math.sin(at) * 1e6)) % 64,
      );
      const bytes = zipSync({ noise }, { level });
      const tally = new Tally();
      tally.received(bytes.byteLength);
      let unpacked = 0;
      const unpackedSizes: number[] = [];
      tally.expanded = (size) => {
        unpacked += size;
      };
      const source = sourceOf(bytes);
      const watchedStream = async function* () {
        for await (const piece of source.stream()) {
          unpackedSizes.push(unpacked);
          yield piece;
        }
      };
      await Array.fromAsync(readZip({ ...source, stream: watchedStream }, tally));
      const half = unpackedSizes[Math.floor(unpackedSizes.length / 2)] ?? 0;
      expect([half > 30_000, half < 70_000, unpacked]).toEqual([true, true, 100_000]);
    },
  );

  it("yields no directories, and yields an inner archive as a file", async () => {
    const inner = zipOf([{ name: "x", content: bytesOfSize(5_000) }]);
    expect(
      namesOf(
        await entriesOf(zipOf([{ name: "dir/" }, { name: "dir/inner.zip", content: inner }])),
      ),
    ).toEqual(["dir/inner.zip"]);
  });
});

describe("E11 a zip is refused", () => {
  const a: Member = { name: "a", content: "hello" };
  const b: Member = { name: "b", content: "world" };
  it.each([
    {
      name: "if its contents are encrypted",
      members: [{ ...a, corruptions: { flags: 0x0801 } }],
      expected: "encrypted",
    },
    {
      name: "if its header is strongly encrypted",
      members: [{ ...a, corruptions: { flags: 0x0840 } }],
      expected: "encrypted",
    },
    {
      name: "if only a local header says that contents are encrypted",
      members: [{ ...a, corruptions: { local: { flags: 0x0801 } } }],
      expected: "does not match its entry",
    },
    {
      name: "with two entries at the same position",
      members: [a, { ...b, corruptions: { offset: 0 } }],
      expected: "overlaps",
    },
    {
      name: "with an entry inside another",
      members: [
        { ...a, content: bytesOfSize(50), stored: true },
        { ...b, corruptions: { offset: 40 } },
      ],
      expected: "overlaps",
    },
    {
      name: "with an entry that overlaps the directory",
      members: [{ ...a, corruptions: { packedSize: 60 } }],
      expected: "overlaps",
    },
    {
      name: "with a file larger than its stated size",
      members: [{ ...a, corruptions: { size: 4 } }],
      expected: "larger than its declared size",
    },
    {
      name: "with a file smaller than its stated size",
      members: [{ ...a, corruptions: { size: 9 } }],
      expected: "smaller than its declared size",
    },
    {
      name: "with two different sizes of an uncompressed file",
      members: [{ ...a, stored: true, corruptions: { size: 9 } }],
      expected: "two sizes",
    },
    {
      name: "with a different size in the local header",
      members: [{ ...a, corruptions: { local: { size: 4 } } }],
      expected: "does not match its entry",
    },
    {
      name: "with a different name in the local header",
      members: [{ ...a, corruptions: { local: { name: new TextEncoder().encode("b") } } }],
      expected: "does not match its entry",
    },
    {
      name: "with a wrong checksum",
      members: [{ ...a, corruptions: { crc: 1 } }],
      expected: "checksum",
    },
    { name: "with a name twice", members: [a, a], expected: "twice" },
    {
      name: "with a zip64 size",
      members: [{ ...a, corruptions: { size: 0xffffffff } }],
      expected: "zip64",
    },
    {
      name: "with a zip64 extra field",
      members: [
        { ...a, corruptions: { extra: Uint8Array.of(1, 0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0) } },
      ],
      expected: "zip64",
    },
    {
      name: "with a zip64 directory",
      members: [a],
      end: { entries: 0xffff, entriesOnDisk: 0xffff },
      expected: "zip64",
    },
    {
      name: "with an unknown compression method",
      members: [{ ...a, corruptions: { method: 14 } }],
      expected: "method",
    },
    {
      name: "with a name in an unknown encoding",
      members: [{ ...a, corruptions: { name: Uint8Array.of(0xe9), flags: 0 } }],
      expected: "neither UTF-8",
    },
    {
      name: "with broken UTF-8 in a name",
      members: [{ ...a, corruptions: { name: Uint8Array.of(0xc3, 0x28) } }],
      expected: "neither UTF-8",
    },
    {
      name: "if it is a part of a split archive",
      members: [a],
      end: { disk: 1 },
      expected: "split archive",
    },
    {
      name: "if its end record counts too few entries",
      members: [a, b],
      end: { entries: 1 },
      expected: "larger than declared",
    },
    {
      name: "if its end record counts too many entries",
      members: [a],
      end: { entries: 2 },
      expected: "cannot be read",
    },
    {
      name: "with a directory at another offset",
      members: [a, b],
      end: { offset: 0 },
      expected: "not at the declared position",
    },
    {
      name: "if its end is cut off",
      members: [a, b],
      end: { missingBytes: 3 },
      expected: "no directory",
    },
    {
      name: "with contents that are not deflate",
      members: [
        { ...a, content: bytesOfSize(5), stored: true, corruptions: { method: 8, size: 9 } },
      ],
      expected: "cannot be unpacked",
    },
  ] satisfies { name: string; members: Member[]; end?: End; expected: string }[])(
    "$name",
    async ({ members, end, expected }) => {
      expect(await refusalOf(zipOf(members, end))).toMatchObject({
        code: "archive_invalid",
        message: expect.stringContaining(expected),
      });
    },
  );

  it.each([
    { bytes: new Uint8Array() },
    { bytes: bytesOfSize(10) },
    { bytes: new TextEncoder().encode("PK, but no zip".repeat(20)) },
  ])("if it is $bytes.byteLength bytes without a directory", async ({ bytes }) => {
    expect(await refusalOf(bytes)).toMatchObject({ code: "archive_invalid" });
  });

  const limits = { bytes: 100_000_000, files: 10_000, fileBytes: 16_000_000, ratio: 100 };
  it("if its contents expand more than a hundred times", async () => {
    const bomb = zipSync({ bomb: new Uint8Array(15_000_000) }, { level: 9 });
    const tally = new Tally(limits);
    expect(await refusalOf(bomb, tally)).toMatchObject({
      code: "context_too_large",
      message: expect.stringContaining("100 times"),
    });
  });

  it("if all files together are too large, although each file is small enough", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 4 }, (_, nth) => [`${nth}`, bytesOfSize(40_000)]),
    );
    const refusal = await refusalOf(zipSync(files), new Tally({ ...limits, bytes: 150_000 }));
    expect(refusal).toMatchObject({
      code: "context_too_large",
      message: expect.stringContaining("together"),
    });
  });

  it("if the declared size of a file is too large", async () => {
    const refusal = await refusalOf(
      zipOf([{ name: "a", content: "x", corruptions: { size: 16_000_001 } }]),
      new Tally(limits),
    );
    expect(refusal).toMatchObject({
      code: "context_too_large",
      message: expect.stringContaining("the limit of a file"),
    });
  });

  it("if it has more than 10,000 entries", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 10_001 }, (_, nth) => [`${nth}`, new Uint8Array()]),
    );
    expect(await refusalOf(zipSync(files, { level: 0 }), new Tally(limits))).toMatchObject({
      code: "context_too_large",
    });
  });

  it("or has files with unchanged contents, for any change of bytes of a valid archive", async () => {
    const good = zipOf([a, { ...b, stored: true }, { name: "c/d", content: bytesOfSize(3_000) }]);
    const wanted = await entriesOf(good);
    const change = fc.tuple(fc.nat(good.byteLength - 1), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const bytes = good.slice();
        for (const [at, by] of changes) bytes[at] = ((bytes[at] ?? 0) + by) % 256;
        const found = await entriesOf(bytes).catch((error: unknown) => error);
        if (!Array.isArray(found)) expect(found).toBeInstanceOf(UploadRefusal);
        else
          for (const entry of found) {
            const original = wanted.find(({ name }) => name === entry.name);
            if (entry.kind === "file" && original?.kind === "file")
              expect(entry.bytes).toEqual(original.bytes);
          }
      }),
      { numRuns: 2_000 },
    );
  });
});
