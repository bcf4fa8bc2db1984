import { gzipSync } from "fflate";
import fc from "fast-check";
import { packTar, type TarEntry } from "modern-tar";
import { describe, expect, it } from "vitest";
import { type ArchiveEntry, readTar, readTarGzip } from "../../src/uploads/read-tar";
import { UploadRefusal } from "../../src/uploads/refusals";
import { Tally } from "../../src/uploads/tally";

const streamOf = (
  bytes: Uint8Array,
  pieceBytes: number,
  tally: Tally,
): ReadableStream<Uint8Array> => {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = bytes.subarray(at, at + pieceBytes);
      at += piece.byteLength;
      tally.received(piece.byteLength);
      if (piece.byteLength > 0) controller.enqueue(piece);
      else controller.close();
    },
  });
};

type Reading = { tally?: Tally; pieceBytes?: number; gzip?: true };
const entriesOf = (
  bytes: Uint8Array,
  { tally = new Tally(), pieceBytes = 700, gzip }: Reading = {},
): Promise<ArchiveEntry[]> =>
  Array.fromAsync((gzip ? readTarGzip : readTar)(streamOf(bytes, pieceBytes, tally), tally));
const refusalOf = (bytes: Uint8Array, reading?: Reading) =>
  entriesOf(bytes, reading).then(
    () => "taken",
    (error: unknown) => (error instanceof UploadRefusal ? error : Promise.reject(error)),
  );
const file = (name: string, body: string | Uint8Array, header: object = {}): TarEntry => ({
  header: {
    name,
    size: typeof body === "string" ? new TextEncoder().encode(body).byteLength : body.byteLength,
    ...header,
  },
  body,
});

const validTar = await packTar([file("a", "hello"), file("b", "world".repeat(300))]);

describe("a tar", () => {
  it("yields its files with their contents, for any chunks, gzipped or not", async () => {
    const files = fc.dictionary(
      fc.stringMatching(/^[a-zé]{1,200}$/),
      fc.uint8Array({ maxLength: 2_000 }),
      { maxKeys: 5 },
    );
    await fc.assert(
      fc.asyncProperty(
        files,
        fc.integer({ min: 1, max: 3_000 }),
        fc.boolean(),
        async (files, pieceBytes, isGzip) => {
          const tar = await packTar(Object.entries(files).map(([name, body]) => file(name, body)));
          const entries = await entriesOf(isGzip ? gzipSync(tar) : tar, {
            pieceBytes,
            ...(isGzip ? { gzip: true as const } : {}),
          });
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
    { type: "symlink", reason: "symlink" },
    { type: "link", reason: "hard link" },
    { type: "character-device", reason: "device" },
    { type: "block-device", reason: "device" },
    { type: "fifo", reason: "named pipe" },
  ] as const)(
    "E10 yields a $reason as skipped, and then the next file",
    async ({ type, reason }) => {
      const tar = await packTar([
        { header: { name: "x", size: 0, type, linkname: "/etc/passwd" } },
        file("after", "y"),
      ]);
      expect(await entriesOf(tar)).toMatchObject([
        { kind: "skipped", name: "x", reason },
        { kind: "file", name: "after" },
      ]);
    },
  );

  it.each([{ mode: 0o4755 }, { mode: 0o2755 }])(
    "E10 skips a file of mode $mode",
    async ({ mode }) => {
      expect(
        await entriesOf(await packTar([file("x", "body", { mode }), file("y", "")])),
      ).toMatchObject([
        { kind: "skipped", reason: "setuid" },
        { kind: "file", name: "y" },
      ]);
    },
  );

  it.each([
    { mode: 0o755, executable: true },
    { mode: 0o644, executable: false },
  ])(
    "reads whether a file of mode $mode is executable: $executable",
    async ({ mode, executable }) => {
      expect(await entriesOf(await packTar([file("x", "", { mode })]))).toMatchObject([
        { executable },
      ]);
    },
  );
});

/** Changes the header at the offset `at`, and corrects its checksum. */
function changeHeader(
  tar: Uint8Array,
  at: number,
  change: (header: Uint8Array) => void,
): Uint8Array {
  const header = tar.subarray(at, at + 512);
  change(header);
  header.fill(32, 148, 156);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return tar;
}
const withType = (tar: Uint8Array, at: number, type: string) =>
  changeHeader(tar, at, (header) => header.fill(type.charCodeAt(0), 156, 157));

/** A tar with three files, of which the second has this type in its header. */
const tarWithType = async (type: string): Promise<Uint8Array> =>
  withType(
    await packTar([file("before", "x"), file("odd", "hello"), file("after", "y")]),
    1_024,
    type,
  );

/** Tars with an entry of type S at the end, after an entry whose size is encoded unusually. */
const HIDDEN_ENTRIES: { name: string; tar: () => Promise<Uint8Array> }[] = [
  {
    name: "an entry with a size in base 256",
    tar: async () => {
      const tar = await packTar([file("before", "x".repeat(600)), file("odd", "hello")]);
      return withType(
        changeHeader(tar, 0, (header) => header.set([128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 88], 124)),
        1_536,
        "S",
      );
    },
  },
  {
    name: "an entry with spaces in its size",
    tar: async () => {
      const tar = await packTar([file("before", "x".repeat(600)), file("odd", "hello")]);
      return withType(
        changeHeader(tar, 0, (header) => header.set(new TextEncoder().encode("000 0001 130"), 124)),
        1_536,
        "S",
      );
    },
  },
  {
    name: "a link with a size",
    tar: async () => {
      const link = { name: "link", size: 0, type: "symlink" as const, linkname: "x" };
      const tar = await packTar([{ header: link }, file("odd", "hello")]);
      return withType(
        changeHeader(tar, 0, (header) => header.set(new TextEncoder().encode("00000001000"), 124)),
        512,
        "S",
      );
    },
  },
  {
    name: "a file after an extended header",
    tar: async () => {
      const tar = await packTar([file("é".repeat(90), "x"), file("odd", "hello")]);
      return withType(tar, 2_048, "S");
    },
  },
];

it.each(["7", "\0"])("a tar yields an entry of type %j as a file", async (type) => {
  expect(await entriesOf(await tarWithType(type))).toMatchObject([
    { name: "before" },
    { name: "odd" },
    { name: "after" },
  ]);
});

describe("a tar is refused", () => {
  it.each(["S", "M", "V", "D", "Z", "8"])(
    "for an entry of type %s, which is not a plain file",
    async (type) => {
      for (const pieceBytes of [1, 700, 5_000]) {
        expect(await refusalOf(await tarWithType(type), { pieceBytes })).toMatchObject({
          code: "archive_invalid",
          message: expect.stringContaining(`"odd" has the unknown type "${type}"`),
        });
      }
    },
  );

  it.each(HIDDEN_ENTRIES)("for an entry of an unknown type after $name", async ({ tar }) => {
    for (const pieceBytes of [1, 700, 5_000])
      expect(await refusalOf(await tar(), { pieceBytes })).toMatchObject({
        message: expect.stringContaining('"odd" has the unknown type "S"'),
      });
  });

  it.each(["pax-header", "pax-global-header"] as const)(
    "for a size in a %s record of another entry",
    async (type) => {
      const records = "13 path=away\n12 size=512\n";
      const tar = await packTar([
        { header: { name: "r", size: records.length, type }, body: records },
        file("a", "hello"),
      ]);
      for (const pieceBytes of [1, 700, 5_000])
        expect(await refusalOf(tar, { pieceBytes })).toMatchObject({
          message: expect.stringContaining("a record outside"),
        });
    },
  );

  it("for data after a block of zeros", async () => {
    const odd = (await tarWithType("S")).subarray(1_024);
    for (const zeros of [512, 1_024]) {
      const tar = Uint8Array.from([
        ...validTar.subarray(0, 1_024),
        ...new Uint8Array(zeros),
        ...odd,
      ]);
      expect(await refusalOf(tar)).toMatchObject({ code: "archive_invalid" });
    }
  });

  it.each([
    { declared: 4_999, expected: "larger than the archive" },
    { declared: 5_000, expected: "truncated" },
    { declared: null, expected: "truncated" },
  ])(
    "for a cut off file of 5,000 bytes in a tar with a declared length of $declared ($expected)",
    async ({ declared, expected }) => {
      const header = (await packTar([file("a", new Uint8Array(5_000))])).slice(0, 512);
      const tally = new Tally();
      const entries = Array.fromAsync(readTar(streamOf(header, 700, tally), tally, declared));
      await expect(entries).rejects.toMatchObject({
        code: "archive_invalid",
        message: expect.stringContaining(expected),
      });
    },
  );

  it.each([
    { name: "if it is cut off in a header", bytes: validTar.slice(0, 300) },
    { name: "if it is cut off in a file", bytes: validTar.slice(0, 1_024 + 512 + 700) },
    { name: "if its end is missing", bytes: validTar.slice(0, -1_024) },
    {
      name: "with a header that does not match its checksum",
      bytes: validTar.map((byte, at) => (at === 3 ? 65 : byte)),
    },
    {
      name: "if it is another file",
      bytes: new TextEncoder().encode("no tar at all ".repeat(100)),
    },
    { name: "if it is empty", bytes: new Uint8Array() },
    { name: "with data after its end", bytes: Uint8Array.from([...validTar, ...validTar]) },
  ])("$name", async ({ bytes }) => {
    expect(await refusalOf(bytes)).toMatchObject({ code: "archive_invalid" });
  });

  it("if its gzip is cut off or invalid", async () => {
    const gzip = gzipSync(validTar);
    for (const bytes of [gzip.slice(0, -20), validTar])
      expect(await refusalOf(bytes, { gzip: true })).toMatchObject({ code: "archive_invalid" });
  });

  const limits = { bytes: 3_000_000, files: 10, fileBytes: 1_000_000, ratio: 100 };
  it.each([
    {
      name: "for a file that is too large",
      tar: [{ header: { name: "x", size: 1_000_001 }, body: new Uint8Array(1_000_001) }],
    },
    {
      name: "for too many entries, including links",
      tar: Array.from({ length: 11 }, (_, nth) => ({
        header: { name: `${nth}`, size: 0, type: "symlink" as const, linkname: "x" },
      })),
    },
    {
      name: "for too many bytes",
      tar: Array.from({ length: 4 }, (_, nth) => file(`${nth}`, new Uint8Array(900_000))),
    },
  ] satisfies { name: string; tar: TarEntry[] }[])("$name", async ({ tar }) => {
    expect(await refusalOf(await packTar(tar), { tally: new Tally(limits) })).toMatchObject({
      code: "context_too_large",
    });
  });

  it("E11 for a gzip that expands more than a hundredfold", async () => {
    const bomb = gzipSync(
      await packTar(["a", "b"].map((name) => file(name, new Uint8Array(900_000)))),
      { level: 9 },
    );
    const refusal = await refusalOf(bomb, { gzip: true, tally: new Tally(limits) });
    expect(refusal).toMatchObject({
      code: "context_too_large",
      message: expect.stringContaining("100 times"),
    });
  });
});
