import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CONTEXT_PACKS,
  decodeIndex,
  decodePlaces,
  encodePlaces,
  PackWriter,
  packedPlacesOf,
} from "../../src/uploads/packs";
import { toEntry } from "../../src/uploads/manifest-text";
import { hashOf } from "../../src/workspace/snapshot";

/** A `PackStore` in memory. */
class FakePackStore {
  readonly blobs = new Map<string, Uint8Array>();
  readonly packs = new Map<string, { bytes: Uint8Array; index: string }>();
  readonly putBlob = async (hash: string, bytes: Uint8Array) => void this.blobs.set(hash, bytes);
  readonly putPack = async (hash: string, bytes: Uint8Array, index: string) =>
    void this.packs.set(hash, { bytes, index });

  /** Returns all stored contents by hash, separate or packed. */
  readableContents(): Map<string, Uint8Array> {
    const packed = [...this.packs].flatMap(([name, { bytes, index }]) =>
      [...decodeIndex(name, index)].map(
        ([hash, { at, size }]) => [hash, bytes.slice(at, at + size)] as const,
      ),
    );
    return new Map([...this.blobs, ...packed]);
  }
}

async function storeContents(
  contents: readonly Uint8Array[],
  stored: readonly string[] = [],
): Promise<FakePackStore> {
  const packStore = new FakePackStore();
  const writer = new PackWriter(packStore, stored);
  for (const bytes of contents) await writer.put(await hashOf(bytes), bytes);
  await writer.end();
  return packStore;
}

const { smallBytes, packBytes, minFiles } = CONTEXT_PACKS;
/** This many files with different contents. */
const files = (count: number, size: number): Uint8Array[] =>
  Array.from({ length: count }, (_, nth) => {
    const bytes = new Uint8Array(size);
    if (size > 0) new DataView(bytes.buffer).setUint32(0, nth);
    return bytes;
  });

describe("contents of one upload", () => {
  it.each([
    {
      name: "are stored in one pack if they are small",
      contents: files(500, 2_000),
      packs: 1,
      blobs: 0,
    },
    {
      name: "are stored in several packs if they are larger than one pack",
      contents: files(100, smallBytes),
      packs: 2,
      blobs: 0,
    },
    {
      name: "are stored separately if they are few",
      contents: files(minFiles - 1, 2_000),
      packs: 0,
      blobs: minFiles - 1,
    },
    {
      name: "are stored separately if they are large",
      contents: files(20, smallBytes + 1),
      packs: 0,
      blobs: 20,
    },
    {
      name: "are stored separately if they are empty",
      contents: [...files(1, 0), ...files(minFiles, 9)],
      packs: 1,
      blobs: 1,
    },
    {
      name: "are stored only once if they occur twice",
      contents: [...files(10, 9), ...files(10, 9)],
      packs: 1,
      blobs: 0,
    },
  ])("$name", async ({ contents, packs, blobs }) => {
    const packStore = await storeContents(contents);
    expect([packStore.packs.size, packStore.blobs.size]).toEqual([packs, blobs]);
    for (const { bytes } of packStore.packs.values())
      expect(bytes.byteLength).toBeLessThanOrEqual(packBytes);
    const readableContents = packStore.readableContents();
    for (const [hash, bytes] of readableContents) expect(await hashOf(bytes)).toBe(hash);
    for (const bytes of contents) expect(readableContents.has(await hashOf(bytes))).toBe(true);
  });

  it("are not stored again if they are already stored", async () => {
    const contents = files(20, 9);
    const stored = await Promise.all(contents.slice(0, 15).map(hashOf));
    const packStore = await storeContents(contents, stored);
    expect([packStore.packs.size, packStore.blobs.size]).toEqual([0, 5]);
  });

  it("lead to the error of the storage if a pack or a blob cannot be stored", async () => {
    const refuse = () => Promise.reject(new Error("R2 is away"));
    for (const [count, size] of [
      [20, 9],
      [2, 9],
      [2, smallBytes + 1],
    ] as const) {
      const writer = new PackWriter({ putBlob: refuse, putPack: refuse });
      const storeAll = async () => {
        for (const bytes of files(count, size)) await writer.put(await hashOf(bytes), bytes);
        await writer.end();
      };
      await expect(storeAll()).rejects.toThrow("R2 is away");
    }
  });
});

describe("the places of a version's contents", () => {
  const manifest = (files: Record<string, string>) =>
    new Map(
      Object.entries(files).map(([path, from]) => [path, { ...toEntry(path, 9, false), from }]),
    );
  const own = new Map(
    ["a", "b"].map((hash, nth) => [hash, { pack: "mine", at: nth * 9, size: 9 }]),
  );
  const older = new Map(
    ["b", "c"].map((hash) => [hash, { pack: "old", at: 0, size: 9, from: "v1" }]),
  );

  it.each([
    {
      name: "are in its own pack if the contents are new",
      files: { a: "v2" },
      expected: { a: "v2 mine" },
    },
    {
      name: "are the places of the base version if its contents are used",
      files: { c: "v1" },
      expected: { c: "v1 old" },
    },
    {
      name: "are the places of the version that the manifest names if two versions have the contents",
      files: { b: "v1" },
      expected: { b: "v1 old" },
    },
    {
      name: "do not exist if neither version has the contents in a pack",
      files: { d: "v2", e: "v1" },
      expected: {},
    },
    {
      name: "are the places of the base also if the base has gathered contents of another version",
      files: { c: "v0" },
      expected: { c: "v1 old" },
    },
  ])("$name", ({ files, expected }) => {
    const places = packedPlacesOf(manifest(files), "v2", own, older);
    expect(
      Object.fromEntries([...places].map(([hash, { from, pack }]) => [hash, `${from} ${pack}`])),
    ).toEqual(expected);
  });

  it("are unchanged after encoding and decoding", () => {
    const place = fc.record({
      from: fc.constantFrom("v1", "v2"),
      pack: fc.constantFrom("p", "q"),
      at: fc.nat(),
      size: fc.nat(),
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), place, { noNullPrototype: true }), (record) => {
        const places = new Map(Object.entries(record));
        expect(decodePlaces(encodePlaces(places))).toEqual(places);
      }),
    );
  });
});
