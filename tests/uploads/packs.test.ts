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

/** The stored contents and their places. */
class Drawer {
  readonly blobs = new Map<string, Uint8Array>();
  readonly packs = new Map<string, { bytes: Uint8Array; index: string }>();
  readonly putBlob = async (hash: string, bytes: Uint8Array) => void this.blobs.set(hash, bytes);
  readonly putPack = async (hash: string, bytes: Uint8Array, index: string) =>
    void this.packs.set(hash, { bytes, index });

  /** The contents that can be read. */
  found(): Map<string, Uint8Array> {
    const packed = [...this.packs].flatMap(([name, { bytes, index }]) =>
      [...decodeIndex(name, index)].map(
        ([hash, { at, size }]) => [hash, bytes.slice(at, at + size)] as const,
      ),
    );
    return new Map([...this.blobs, ...packed]);
  }
}

async function written(
  contents: readonly Uint8Array[],
  stored: readonly string[] = [],
): Promise<Drawer> {
  const drawer = new Drawer();
  const writer = new PackWriter(drawer, stored);
  for (const bytes of contents) await writer.put(await hashOf(bytes), bytes);
  await writer.end();
  return drawer;
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
    { name: "are one pack if they are small", contents: files(500, 2_000), packs: 1, blobs: 0 },
    {
      name: "are several packs if they are more than one holds",
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
    { name: "are stored once", contents: [...files(10, 9), ...files(10, 9)], packs: 1, blobs: 0 },
  ])("$name", async ({ contents, packs, blobs }) => {
    const drawer = await written(contents);
    expect([drawer.packs.size, drawer.blobs.size]).toEqual([packs, blobs]);
    for (const { bytes } of drawer.packs.values())
      expect(bytes.byteLength).toBeLessThanOrEqual(packBytes);
    const found = drawer.found();
    for (const [hash, bytes] of found) expect(await hashOf(bytes)).toBe(hash);
    for (const bytes of contents) expect(found.has(await hashOf(bytes))).toBe(true);
  });

  it("are not stored if they exist", async () => {
    const contents = files(20, 9);
    const there = await Promise.all(contents.slice(0, 15).map(hashOf));
    const drawer = await written(contents, there);
    expect([drawer.packs.size, drawer.blobs.size]).toEqual([0, 5]);
  });

  it("fail with the cause, for either kind of storage", async () => {
    const refuse = () => Promise.reject(new Error("R2 is away"));
    for (const [count, size] of [
      [20, 9],
      [2, 9],
      [2, smallBytes + 1],
    ] as const) {
      const writer = new PackWriter({ putBlob: refuse, putPack: refuse });
      const all = async () => {
        for (const bytes of files(count, size)) await writer.put(await hashOf(bytes), bytes);
        await writer.end();
      };
      await expect(all()).rejects.toThrow("R2 is away");
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
    { name: "are in its own pack, if they are new", files: { a: "v2" }, then: { a: "v2 mine" } },
    {
      name: "are those of the previous version, if it has them",
      files: { c: "v1" },
      then: { c: "v1 old" },
    },
    {
      name: "are those of its manifest, if both have them",
      files: { b: "v1" },
      then: { b: "v1 old" },
    },
    {
      name: "are in no pack, if neither version has them in a pack",
      files: { d: "v2", e: "v1" },
      then: {},
    },
    { name: "are not those of an even older version", files: { c: "v0" }, then: {} },
  ])("$name", ({ files, then }) => {
    const places = packedPlacesOf(manifest(files), "v2", own, older);
    expect(
      Object.fromEntries([...places].map(([hash, { from, pack }]) => [hash, `${from} ${pack}`])),
    ).toEqual(then);
  });

  it("are read as they were written", () => {
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
