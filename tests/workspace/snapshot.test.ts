import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffTrees, EMPTY_TREE } from "../../src/workspace/tree";
import { type BlobSize, newBlobs, planBlobs } from "../../src/workspace/snapshot";
import type { FileEntry, Tree } from "../../src/workspace/types";
import { changes, entry } from "./files";

const LIMITS = { smallBytes: 100, packBytes: 250 };
const blob = (hash: string, size: number): BlobSize => ({ hash, size });

describe("the list of new contents", () => {
  it.each([
    {
      name: "includes only contents that are not stored yet",
      files: { a: "one", b: "two" },
      stored: ["one"],
      expected: ["two"],
    },
    {
      name: "includes contents of several files once",
      files: { a: "one", b: "one" },
      stored: [],
      expected: ["one"],
    },
    { name: "is empty for a deleted file", files: { a: null }, stored: [], expected: [] },
    { name: "is empty for an empty file", files: { a: "" }, stored: [], expected: [] },
  ])("$name", ({ files, stored, expected }) => {
    const empty: FileEntry = { hash: "e".repeat(64), size: 0 };
    const changedFiles = new Map(
      [...changes(files)].map(([path, file]) => [path, file?.size === 0 ? empty : file]),
    );
    const hashes = new Set(stored.map((word) => entry(word).hash));
    expect(newBlobs(changedFiles, (hash) => hashes.has(hash)).map(({ hash }) => hash)).toEqual(
      expected.map((word) => entry(word).hash),
    );
  });
});

describe("the blobs of a snapshot", () => {
  it.each<{ name: string; blobs: BlobSize[]; packs: string[]; single: string[] }>([
    {
      name: "are none if nothing is new",
      blobs: [],
      packs: [],
      single: [],
    },
    {
      name: "share a pack if they are small",
      blobs: [blob("a", 10), blob("b", 20), blob("c", 30)],
      packs: ["a@0+10 b@10+20 c@30+30"],
      single: [],
    },
    {
      name: "are stored separately if there is only one",
      blobs: [blob("a", 10)],
      packs: [],
      single: ["a"],
    },
    {
      name: "are stored separately if they are large",
      blobs: [blob("a", 100), blob("b", 10), blob("c", 99)],
      packs: ["b@0+10 c@10+99"],
      single: ["a"],
    },
    {
      name: "need a second pack if they exceed the size of one",
      blobs: [blob("a", 99), blob("b", 99), blob("c", 99), blob("d", 99)],
      packs: ["a@0+99 b@99+99", "c@0+99 d@99+99"],
      single: [],
    },
    {
      name: "are packed in the order of their hashes",
      blobs: [blob("b", 1), blob("a", 1)],
      packs: ["a@0+1 b@1+1"],
      single: [],
    },
  ])("$name", ({ blobs, packs, single }) => {
    const plan = planBlobs(blobs, LIMITS);
    expect(
      plan.packs.map(({ members }) =>
        members.map(({ hash, offset, size }) => `${hash}@${offset}+${size}`).join(" "),
      ),
    ).toEqual(packs);
    expect(plan.single.map(({ hash }) => hash)).toEqual(single);
  });

  it("are written once each, without overlaps, in packs of bounded size", () => {
    const anyBlobs = fc.uniqueArray(
      fc.record({ hash: fc.string({ minLength: 1 }), size: fc.integer({ min: 1, max: 300 }) }),
      {
        selector: ({ hash }) => hash,
      },
    );
    fc.assert(
      fc.property(anyBlobs, (blobs) => {
        const { packs, single } = planBlobs(blobs, LIMITS);
        const packed = packs.flatMap(({ members }) => members);
        expect([...packed, ...single].map(({ hash }) => hash).sort()).toEqual(
          blobs.map(({ hash }) => hash).sort(),
        );
        for (const { members, size } of packs) {
          expect(size).toBeLessThanOrEqual(LIMITS.packBytes);
          expect(
            members.reduce(
              (end, member) => (member.offset === end ? end + member.size : Number.NaN),
              0,
            ),
          ).toBe(size);
        }
      }),
    );
  });
});

describe("a snapshot of a tree of 2,000 files", () => {
  const files = (changed: number): Tree =>
    new Map(
      Array.from({ length: 2_000 }, (_, index) => [
        `src/${index}`,
        { hash: `${index}${index < changed ? "-new" : ""}`, size: 1_000 },
      ]),
    );

  it("is one pack with all contents the first time", () => {
    const plan = planBlobs(newBlobs(diffTrees(EMPTY_TREE, files(0)), () => false));
    expect([plan.packs.map(({ size }) => size), plan.single]).toEqual([[2_000_000], []]);
  });

  it("is one pack with only the changed contents after three changes", () => {
    const stored = new Set([...files(0).values()].map(({ hash }) => hash));
    const changed = diffTrees(files(0), files(3));
    const plan = planBlobs(newBlobs(changed, (hash) => stored.has(hash)));
    expect([changed.size, plan.packs.map(({ size }) => size), plan.single]).toEqual([
      3,
      [3_000],
      [],
    ]);
  });
});
