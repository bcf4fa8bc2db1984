import { describe, expect, it } from "vitest";
import { PackReader } from "../../src/workspace/pack-reader";

/**
 * A source of packs with ten bytes; each byte is its own position. A request is recorded as `b` for
 * the whole pack, and as `b 2+3` for three bytes at offset 2.
 */
class Store {
  readonly requests: string[] = [];
  readonly pack = async (name: string) => {
    this.requests.push(name);
    await Promise.resolve();
    return name === "none" ? null : this.#bytes();
  };
  readonly packed = async (name: string, offset: number, length: number) => {
    this.requests.push(`${name} ${offset}+${length}`);
    return name === "none" ? null : this.#bytes().slice(offset, offset + length);
  };
  #bytes = () => Uint8Array.from({ length: 10 }, (_, index) => index);
}

describe("the reader of packs", () => {
  it.each([
    { name: "reads the range of one file", reads: ["a"], maxCached: 1, requests: ["a 2+3"] },
    {
      name: "reads the whole pack for the second file",
      reads: ["a", "a", "a", "a"],
      maxCached: 1,
      requests: ["a 2+3", "a"],
    },
    {
      name: "keeps a pack although one file of another pack is read",
      reads: ["a", "a", "b", "a"],
      maxCached: 1,
      requests: ["a 2+3", "a", "b 2+3"],
    },
    {
      name: "drops a pack when two files of another pack are read, if one pack is cached",
      reads: ["a", "a", "b", "b", "a", "a"],
      maxCached: 1,
      requests: ["a 2+3", "a", "b 2+3", "b", "a 2+3", "a"],
    },
    {
      name: "keeps a pack when two files of another pack are read, if two packs are cached",
      reads: ["a", "a", "b", "b", "a", "a", "b"],
      maxCached: 2,
      requests: ["a 2+3", "a", "b 2+3", "b"],
    },
    {
      name: "drops the least recently read of three packs, if two packs are cached",
      reads: ["a", "a", "b", "b", "a", "c", "c", "a", "b"],
      maxCached: 2,
      requests: ["a 2+3", "a", "b 2+3", "b", "c 2+3", "c", "b 2+3"],
    },
  ])("$name", async ({ reads, maxCached, requests }) => {
    const store = new Store();
    const reader = new PackReader(store, maxCached);
    for (const pack of reads)
      expect(await reader.read({ pack, at: 2, size: 3 })).toEqual(Uint8Array.of(2, 3, 4));
    expect(store.requests).toEqual(requests);
  });

  it("reads a pack once for concurrent callers", async () => {
    const store = new Store();
    const reader = new PackReader(store);
    const found = await Promise.all(
      [0, 1, 2, 3].map((at) => reader.read({ pack: "a", at, size: 1 })),
    );
    expect([found, store.requests]).toEqual([
      [0, 1, 2, 3].map((at) => Uint8Array.of(at)),
      ["a 0+1", "a"],
    ]);
  });

  it("returns null for a missing pack, and throws if a pack is too short", async () => {
    const reader = new PackReader(new Store());
    for (let call = 0; call < 2; call += 1)
      expect(await reader.read({ pack: "none", at: 0, size: 1 })).toBeNull();
    await expect(reader.read({ pack: "a", at: 8, size: 5 })).rejects.toThrow(
      "shorter than it should be",
    );
  });
});
