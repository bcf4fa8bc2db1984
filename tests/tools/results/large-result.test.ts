import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  estimateTokens,
  keepResult,
  previewOf,
  RESULT_LIMITS,
  resultPath,
} from "../../../src/tools/large-results";

const resultWith = (text: string, overrides = {}) => ({
  tool: "mcp__docs__search",
  id: "toolu_01",
  at: Date.UTC(2026, 10, 22, 8, 45, 3, 123),
  text,
  calibration: 1,
  ...overrides,
});

const textOf = (files: readonly { bytes: Uint8Array }[]): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
    Buffer.concat(files.map(({ bytes }) => bytes)),
  );

describe("keepResult", () => {
  it.each([
    { name: "keeps an empty result in the conversation", text: "", kind: "inline" },
    {
      name: "keeps a result of exactly 20,000 tokens in the conversation",
      text: "a".repeat(80_000),
      kind: "inline",
    },
    {
      name: "stores a result of one more byte in a file",
      text: "a".repeat(80_001),
      kind: "evicted",
    },
    { name: "counts bytes, not characters", text: "é".repeat(40_001), kind: "evicted" },
    {
      name: "applies a calibration above 1",
      text: "a".repeat(60_000),
      calibration: 1.5,
      kind: "evicted",
    },
    {
      name: "applies a calibration below 1",
      text: "a".repeat(100_000),
      calibration: 0.5,
      kind: "inline",
    },
    {
      name: "applies an operator's threshold",
      text: "a".repeat(401),
      inlineTokens: 100,
      kind: "evicted",
    },
  ])("$name", ({ text, calibration = 1, inlineTokens = RESULT_LIMITS.inlineTokens, kind }) => {
    const kept = keepResult(resultWith(text, { calibration }), { ...RESULT_LIMITS, inlineTokens });
    expect(kept.kind).toBe(kind);
    expect(kept.kind === "inline" ? kept.text : textOf(kept.files)).toBe(text);
  });

  it("returns a reference with the size, the file, how to continue, and a preview", () => {
    const text = "0123456789".repeat(10_000);
    const path = ".tool_results/mcp__docs__search_20261122T084503Z_toolu_01.txt";
    const kept = keepResult(resultWith(text));
    expect(kept).toMatchObject({
      kind: "evicted",
      files: [{ path }],
      tokens: 25_000,
      characters: 100_000,
    });
    const [first, second, third, , preview] = (kept.kind === "evicted" ? kept.reference : "").split(
      "\n",
    );
    expect(first).toContain("about 25000 tokens, 100000 characters, 100000 bytes");
    expect(second).toBe(`All of it lies in the file ${path}.`);
    expect(third).toContain(`(path: "${path}", start_char: 8000)`);
    expect(preview).toBe(text.slice(0, 8_000));
  });

  it.each([
    { name: "of equal size", text: "a".repeat(80_004), sizes: [40_002, 40_002] },
    { name: "with a smaller last file", text: "a".repeat(80_005), sizes: [40_002, 40_002, 1] },
    {
      name: "without splitting a character",
      text: "é€😀".repeat(10_000),
      sizes: [40_001, 40_002, 9_997],
    },
  ])("splits a result above the file limit into several files, $name", ({ text, sizes }) => {
    const kept = keepResult(resultWith(text), RESULT_LIMITS, 40_002);
    const files = kept.kind === "evicted" ? kept.files : [];
    expect(files.map(({ bytes }) => bytes.length)).toEqual(sizes);
    expect(textOf(files)).toBe(text);
    for (const { bytes } of files)
      new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const paths = sizes.map(
      (_, index) =>
        `.tool_results/mcp__docs__search_20261122T084503Z_toolu_01${index === 0 ? "" : `_part${index + 1}`}.txt`,
    );
    expect(files.map(({ path }) => path)).toEqual(paths);
    expect(kept).toMatchObject({
      reference: expect.stringContaining(
        `All of it lies in these files, one after another: ${paths.join(", ")}.`,
      ),
    });
  });

  it("returns a preview that is not longer than the limit of results in the conversation", () => {
    const kept = keepResult(resultWith("a".repeat(40_000)), {
      inlineTokens: 1_000,
      previewTokens: 2_000,
    });
    expect(kept.kind === "evicted" && /\n(a+)$/.exec(kept.reference)?.[1]?.length).toBe(4_000);
  });

  it.each([
    {
      tool: "../../etc/passwd",
      id: "a/b",
      path: ".tool_results/-etc-passwd_20261122T084503Z_a-b-3a8e75c1.txt",
    },
    { tool: "поиск", id: "", path: ".tool_results/-_20261122T084503Z_unnamed-811c9dc5.txt" },
    { tool: "a.b", id: "toolu_01-x", path: ".tool_results/a-b_20261122T084503Z_toolu_01-x.txt" },
    {
      tool: "t".repeat(500),
      id: "i".repeat(500),
      path: `.tool_results/${"t".repeat(60)}_20261122T084503Z_${"i".repeat(80)}-d71be979.txt`,
    },
  ])("creates a file name from the tool $tool and the call id $id", ({ tool, id, path }) => {
    expect(resultPath(resultWith("", { tool, id }))).toBe(path);
  });

  it.each([
    {
      name: "characters that names do not allow",
      ids: ["call:1", "call.1", "call-1", "call::1", "call/1"],
    },
    { name: "characters of another script", ids: ["вызов", "вопрос", "-", "", "unnamed"] },
    { name: "a part that is cut off", ids: ["a", "b", ""].map((end) => "i".repeat(80) + end) },
  ])("uses different files for calls whose ids differ in $name", ({ ids }) => {
    expect(new Set(ids.map((id) => resultPath(resultWith("", { id })))).size).toBe(ids.length);
  });
});

describe("previewOf", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc.string({
      unit: fc.constantFrom("a", "é", "漢", "😀", "👩‍👩‍👧", "\ud83d", "\ude00"),
      maxLength: 400,
    }),
  );
  const cases = fc.record({
    text: texts,
    tokens: fc.integer({ min: 0, max: 120 }),
    calibration: fc.double({ min: 0.2, max: 5, noNaN: true }),
  });

  it("returns the longest start of the text within the limit", () => {
    fc.assert(
      fc.property(cases, ({ text, tokens, calibration }) => {
        const preview = previewOf(text, tokens, calibration);
        expect(text.startsWith(preview)).toBe(true);
        expect(estimateTokens(preview, calibration)).toBeLessThanOrEqual(tokens);
        const [nextCharacter] = text.slice(preview.length);
        if (nextCharacter !== undefined && tokens > 0)
          expect(estimateTokens(preview + nextCharacter, calibration)).toBeGreaterThan(tokens);
      }),
      { numRuns: 5_000 },
    );
  });

  it("does not split a surrogate pair", () => {
    fc.assert(
      fc.property(cases, ({ text, tokens, calibration }) => {
        const wellFormed = text.toWellFormed();
        expect(previewOf(wellFormed, tokens, calibration).isWellFormed()).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
