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
    { name: "reads the range of one file", reads: ["a"], maxBytes: 10, requests: ["a 2+3"] },
    {
      name: "reads the whole pack for the second file",
      reads: ["a", "a", "a", "a"],
      maxBytes: 10,
      requests: ["a 2+3", "a"],
    },
    {
      name: "keeps a pack although one file of another pack is read",
      reads: ["a", "a", "b", "a"],
      maxBytes: 10,
      requests: ["a 2+3", "a", "b 2+3"],
    },
    {
      name: "drops a pack when two files of another pack are read, if one pack is cached",
      reads: ["a", "a", "b", "b", "a", "a"],
      maxBytes: 10,
      requests: ["a 2+3", "a", "b 2+3", "b", "a 2+3", "a"],
    },
    {
      name: "keeps a pack when two files of another pack are read, if two packs are cached",
      reads: ["a", "a", "b", "b", "a", "a", "b"],
      maxBytes: 20,
      requests: ["a 2+3", "a", "b 2+3", "b"],
    },
    {
      name: "drops the least recently read of three packs, if two packs are cached",
      reads: ["a", "a", "b", "b", "a", "c", "c", "a", "b"],
      maxBytes: 20,
      requests: ["a 2+3", "a", "b 2+3", "b", "c 2+3", "c", "b 2+3"],
    },
  ])("$name", async ({ reads, maxBytes, requests }) => {
    const store = new Store();
    const reader = new PackReader(store, maxBytes);
    for (const pack of reads)
      expect(await reader.read({ pack, at: 2, size: 3 })).toEqual(Uint8Array.of(2, 3, 4));
    expect(store.requests).toEqual(requests);
  });

  it("reads the whole pack for the first file of a search", async () => {
    const store = new Store();
    const reader = new PackReader(store, 10);
    for (const at of [0, 1])
      expect(await reader.read({ pack: "a", at, size: 1 }, true)).not.toBeNull();
    expect(store.requests).toEqual(["a"]);
  });

  it("reads two packs once each if their files are read in turns", async () => {
    const store = new Store();
    const reader = new PackReader(store, 20);
    for (const pack of ["a", "b", "a", "b", "a", "b"]) await reader.read({ pack, at: 0, size: 1 });
    expect(store.requests).toEqual(["a 0+1", "b 0+1", "a", "b"]);
  });

  it("keeps the pack that is read, also if it is larger than the limit", async () => {
    const store = new Store();
    const reader = new PackReader(store, 9);
    for (let at = 0; at < 4; at += 1) await reader.read({ pack: "a", at, size: 1 });
    expect(store.requests).toEqual(["a 0+1", "a"]);
  });

  it("reads a pack once for concurrent callers", async () => {
    const store = new Store();
    const reader = new PackReader(store, 10);
    const found = await Promise.all(
      [0, 1, 2, 3].map((at) => reader.read({ pack: "a", at, size: 1 })),
    );
    expect([found, store.requests]).toEqual([
      [0, 1, 2, 3].map((at) => Uint8Array.of(at)),
      ["a 0+1", "a"],
    ]);
  });

  it("returns null for a missing pack, and throws if a pack is too short", async () => {
    const reader = new PackReader(new Store(), 10);
    for (let call = 0; call < 2; call += 1)
      expect(await reader.read({ pack: "none", at: 0, size: 1 })).toBeNull();
    await expect(reader.read({ pack: "a", at: 8, size: 5 })).rejects.toThrow(
      "shorter than it should be",
    );
  });
});
