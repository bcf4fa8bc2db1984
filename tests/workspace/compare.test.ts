import fc from "fast-check";
import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import {
  COMPARE_LIMITS,
  compareDirectories,
  compareFiles,
  compareTrees,
} from "../../src/workspace/compare";
import { FileError } from "../../src/workspace/types";
import { entry, tree } from "./files";
import { Rig } from "./rig";

const encoder = new TextEncoder();
const bytesOf = (contents: string | Uint8Array): Uint8Array =>
  typeof contents === "string" ? encoder.encode(contents) : contents;
const compare = (left: string | Uint8Array, right: string | Uint8Array, limits = {}) =>
  compareFiles(
    { name: "a", bytes: bytesOf(left) },
    { name: "b", bytes: bytesOf(right) },
    { ...COMPARE_LIMITS, ...limits },
  );

const numbers = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `${index + from}\n`).join("");

describe("two files", () => {
  it.each<{
    name: string;
    left: string | Uint8Array;
    right: string | Uint8Array;
    limits?: object;
    text: string;
  }>([
    { name: "that are the same", left: "x\n", right: "x\n", text: "a and b are the same." },
    {
      name: "that are the same, but not text",
      left: Uint8Array.of(0, 255),
      right: Uint8Array.of(0, 255),
      text: "a and b are the same.",
    },
    {
      name: "that differ in a line",
      left: "x\ny\n",
      right: "x\nz\n",
      text: "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
    },
    {
      name: "that differ in the end of the last line",
      left: "x\n",
      right: "x",
      text: "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file\n",
    },
    {
      name: "one of which is empty",
      left: "",
      right: "x\n",
      text: "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n",
    },
    {
      name: "one of which contains a NUL",
      left: "x\0",
      right: "x",
      text: "a (2 bytes) and b (1 bytes) differ, and are not both text.",
    },
    {
      name: "one of which is not UTF-8",
      left: Uint8Array.of(0xff),
      right: "x",
      text: "a (1 bytes) and b (1 bytes) differ, and are not both text.",
    },
    {
      name: "that are too large to compare",
      left: "abc",
      right: "abd",
      limits: { fileBytes: 2 },
      text: "a (3 bytes) and b (3 bytes) differ; they are too large to compare by line.",
    },
    {
      name: "with too many lines to compare",
      left: "a\nb\n",
      right: "a\nc\n",
      limits: { lines: 5 },
      text: "a (4 bytes) and b (4 bytes) differ; they are too large to compare by line.",
    },
    {
      name: "that differ in too many lines",
      left: numbers(30),
      right: numbers(30, 100),
      limits: { edits: 20 },
      text: "a (80 bytes) and b (120 bytes) differ in too many lines to tell them all.",
    },
    {
      name: "whose diff is too long",
      left: "",
      right: "abcdefghij\n".repeat(3),
      limits: { text: 40 },
      text: "--- a\n+++ b\n@@ -0,0 +1,3 @@\n+abcdefghij\n… 25 more characters are left out.\n",
    },
    {
      name: "whose diff has one line that is too long",
      left: "",
      right: "abcdefghij".repeat(9),
      limits: { text: 60 },
      text: `--- a\n+++ b\n@@ -0,0 +1,1 @@\n+${"abcdefghij".repeat(3)}a\n… 88 more characters are left out.\n`,
    },
  ])("$name", ({ left, right, limits, text }) => {
    expect(compare(left, right, limits).text).toBe(text);
  });

  it("are described by a patch that converts the left file to the right file", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "", "\r"), { maxLength: 30 })
      .map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (left, right) => {
        const { same, text: patch } = compare(left, right);
        expect(same).toBe(left === right);
        if (!same) expect(applyPatch(left, patch)).toBe(right);
      }),
    );
  });

  it.each([
    {
      name: "with almost the maximum number of lines, nearly all equal",
      left: "a\n".repeat(99_990),
      right: `${"a\n".repeat(50_000)}b\n${"a\n".repeat(49_000)}`,
    },
    {
      name: "with alternating lines",
      left: "a\nb\n".repeat(45_000),
      right: "b\na\na\n".repeat(30_000),
    },
    {
      name: "without a common line",
      left: numbers(90_000),
      right: numbers(90_000, 1_000_000),
    },
    { name: "with one long line each", left: "x".repeat(1_000_000), right: "y".repeat(1_000_000) },
  ])("$name are compared in bounded time", ({ left, right }) => {
    const before = performance.now();
    const { text } = compare(left, right);
    expect(performance.now() - before).toBeLessThan(10_000);
    expect(text.length).toBeLessThan(COMPARE_LIMITS.text + 100);
  });
});

describe("two directories", () => {
  it("are compared by path and contents", () => {
    const left = tree({ same: "1", mine: "2", other: "3", "a/b": "4" });
    const right = new Map([
      ...tree({ same: "1", theirs: "2", other: "x" }),
      ["a/b", entry("4", true)],
    ]);
    expect(compareTrees(left, right)).toEqual({
      onlyLeft: ["mine"],
      onlyRight: ["theirs"],
      different: ["a/b", "other"],
      same: 1,
    });
  });

  it("are compared without reading contents", async () => {
    const rig = await Rig.of({
      workspace: { "src/a": "A", "src/b": "B" },
      peers: { agent1: { a: "A", b: "other", "c/d": "D" } },
    });
    const files = rig.open();
    const { same, text } = await compareDirectories(files, {
      left: "src",
      right: "/peers/agent1",
      most: 100,
    });
    expect([same, text]).toEqual([
      false,
      "Only in /peers/agent1 (1):\n  c/d\nDifferent (1):\n  b\nThe same: 1",
    ]);
    expect(rig.readHashes).toEqual([]);
  });

  it("are the same if nothing differs", async () => {
    const rig = await Rig.of({ workspace: { "x/a": "A", "y/a": "A" } });
    expect(await compareDirectories(rig.open(), { left: "x", right: "y", most: 100 })).toEqual({
      same: true,
      text: "The same: 1",
    });
  });

  it("are not compared if one has too many files", async () => {
    const rig = await Rig.of({ workspace: { "x/a": "A", "x/b": "B", "y/a": "A", "y/c": "C" } });
    const compare = () => compareDirectories(rig.open(), { left: "x", right: "y", most: 1 });
    await expect(compare()).rejects.toThrow(
      "/workspace/x holds more than 1 files. Compare directories further down.",
    );
  });

  it("may be the root and the workspace", async () => {
    const rig = await Rig.of({ workspace: { a: "A" }, peers: { agent1: { a: "A" } } });
    const { text } = await compareDirectories(rig.open(), {
      left: "/",
      right: "/workspace",
      most: 9,
    });
    expect(text).toBe(
      "Only in / (2):\n  peers/agent1/a\n  workspace/a\nOnly in /workspace (1):\n  a\nThe same: 0",
    );
  });

  it("must not be files", async () => {
    const rig = await Rig.of({ workspace: { a: "A", b: "B" } });
    await expect(
      compareDirectories(rig.open(), { left: "a", right: "b", most: 9 }),
    ).rejects.toThrow(FileError);
  });
});
