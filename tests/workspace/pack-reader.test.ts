import { describe, expect, it } from "vitest";
import { PackReader } from "../../src/workspace/pack-reader";

/**
 * Packs of ten bytes, each with its position as contents. Reads are recorded as `b` for the whole
 * pack and `b 2+3` for a part.
 */
class Store {
  readonly asked: string[] = [];
  readonly pack = async (name: string) => {
    this.asked.push(name);
    await Promise.resolve();
    return name === "none" ? null : this.#bytes();
  };
  readonly packed = async (name: string, offset: number, length: number) => {
    this.asked.push(`${name} ${offset}+${length}`);
    return name === "none" ? null : this.#bytes().slice(offset, offset + length);
  };
  #bytes = () => Uint8Array.from({ length: 10 }, (_, nth) => nth);
}

describe("of packs", () => {
  it.each([
    { name: "one file is read by its place", reads: ["a"], mostKept: 1, asks: ["a 2+3"] },
    {
      name: "the second file of a pack reads the whole pack",
      reads: ["a", "a", "a", "a"],
      mostKept: 1,
      asks: ["a 2+3", "a"],
    },
    {
      name: "a file of another pack does not push the first out",
      reads: ["a", "a", "b", "a"],
      mostKept: 1,
      asks: ["a 2+3", "a", "b 2+3"],
    },
    {
      name: "two files of another pack do, if one pack is cached",
      reads: ["a", "a", "b", "b", "a", "a"],
      mostKept: 1,
      asks: ["a 2+3", "a", "b 2+3", "b", "a 2+3", "a"],
    },
    {
      name: "two files of another pack do not, if two packs are cached",
      reads: ["a", "a", "b", "b", "a", "a", "b"],
      mostKept: 2,
      asks: ["a 2+3", "a", "b 2+3", "b"],
    },
    {
      name: "the least recently read of three packs is dropped, if two are cached",
      reads: ["a", "a", "b", "b", "a", "c", "c", "a", "b"],
      mostKept: 2,
      asks: ["a 2+3", "a", "b 2+3", "b", "c 2+3", "c", "b 2+3"],
    },
  ])("$name", async ({ reads, mostKept, asks }) => {
    const store = new Store();
    const reader = new PackReader(store, mostKept);
    for (const pack of reads)
      expect(await reader.read({ pack, at: 2, size: 3 })).toEqual(Uint8Array.of(2, 3, 4));
    expect(store.asked).toEqual(asks);
  });

  it("concurrent readers of the same pack wait for one read", async () => {
    const store = new Store();
    const reader = new PackReader(store);
    const found = await Promise.all(
      [0, 1, 2, 3].map((at) => reader.read({ pack: "a", at, size: 1 })),
    );
    expect([found, store.asked]).toEqual([
      [0, 1, 2, 3].map((at) => Uint8Array.of(at)),
      ["a 0+1", "a"],
    ]);
  });

  it("a missing pack returns nothing, and a too short pack is an error", async () => {
    const reader = new PackReader(new Store());
    for (let time = 0; time < 2; time += 1)
      expect(await reader.read({ pack: "none", at: 0, size: 1 })).toBeNull();
    await expect(reader.read({ pack: "a", at: 8, size: 5 })).rejects.toThrow(
      "shorter than it should be",
    );
  });
});
