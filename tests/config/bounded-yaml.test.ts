import { LineCounter, parseDocument } from "yaml";
import { describe, expect, it } from "vitest";
import { parseBounded } from "../../src/config/bounded-yaml";
import { MAX_PROBLEMS } from "../../src/config/config-limits";
import { readSource } from "../../src/config/source";
import { cpuMs } from "../fakes/cpu-time";

const SIZE = 240_000;
const repeated = (part: string, before = "", after = ""): string =>
  before + part.repeat(Math.floor((SIZE - before.length - after.length) / part.length)) + after;

/** Broken texts of 240 kB. Most have an error at every position, which makes them slow to parse. */
const BROKEN = [
  { name: "commas in a list", text: repeated(",", "a: [") },
  { name: "quotes", text: repeated('"') },
  { name: "closing brackets", text: repeated("]") },
  { name: "closing brackets after a key", text: repeated("]", "a: ") },
  { name: "closing braces in a list", text: repeated("}", "a: {") },
  { name: "flow lists without a separator", text: repeated("[]") },
  { name: "escapes", text: repeated("\\x", 'a: "', '"') },
  { name: "anchors", text: repeated("&a ") },
  { name: "aliases", text: repeated("*a ") },
  { name: "tags", text: repeated("!a ") },
  { name: "directives", text: repeated("%x\n") },
  { name: "documents", text: repeated("---\n") },
  { name: "ends of documents", text: repeated("...\n") },
  { name: "block scalars", text: repeated("|\n", "a: |\n") },
  { name: "lines below a list", text: repeated("c\n", "a:\n- b\n") },
  { name: "wrong indentation", text: repeated(" c: 1\n", "a:\n  b: 1\n") },
  { name: "tabs", text: repeated("\tb: 1\n", "a:\n") },
  { name: "nested keys on one line", text: repeated("a: b: ") },
];
/** Valid but long texts. */
const VALID = [
  { name: "one repeated key", text: repeated("a:\n") },
  { name: "comments", text: repeated("#\n") },
  { name: "one long text", text: repeated("x", "a: ") },
  { name: "a text of many lines", text: repeated(" y\n", "a: |\n") },
  { name: "anchored values", text: repeated("&a 1,", "a: [", "]") },
  { name: "an escaped text", text: repeated("\\u0041", 'a: "', '"') },
];

describe("a config of 240 kB", () => {
  it.each(BROKEN)("that consists of $name is refused quickly (M12)", ({ text }) => {
    const began = cpuMs();
    const read = readSource(text);
    expect(read.ok).toBe(false);
    expect(read.ok || read.errors.length).toBeLessThanOrEqual(MAX_PROBLEMS);
    expect(cpuMs() - began).toBeLessThan(250);
  });

  it.each(VALID)("that consists of $name is read or refused quickly (M12)", ({ text }) => {
    const began = cpuMs();
    readSource(text);
    expect(cpuMs() - began).toBeLessThan(250);
  });
});

describe("bounded parsing", () => {
  const options = { schema: "core", strict: true, prettyErrors: false, logLevel: "error" } as const;
  const bounded = (text: string, maxProblems = 100) =>
    parseBounded(text, { lines: new LineCounter(), maxProblems, options });

  it.each([
    { name: "a mapping", text: "a: 1\nb: [x, {y: z}]\n" },
    { name: "only a comment", text: "# nothing\n" },
    { name: "no text", text: "" },
    { name: "anchors and aliases", text: "a: &x {b: 1}\nc: *x\n" },
    { name: "a document with an end", text: "---\na: 1\n...\n" },
  ])("returns the result of the package for $name", ({ text }) => {
    const { doc, problems } = bounded(text);
    expect(problems).toEqual([]);
    expect(doc?.toJS()).toEqual(parseDocument(text, options).toJS());
  });

  it.each([
    { name: "an open quote", text: 'a: "b\n' },
    { name: "tabs", text: "a:\n\tb: 1\n" },
    { name: "an unknown tag", text: "a: !!js/function x\n" },
    { name: "two documents", text: "a: 1\n---\nb: 2\n" },
    { name: "several mistakes", text: "a: [,]\nb: }\n" },
  ])("reports the errors of the package in $name", ({ text }) => {
    const { errors, warnings } = parseDocument(text, options);
    const withOffsets = (found: { code: string; pos: readonly number[] }[]) =>
      found.map(({ code, pos }) => `${code} ${pos[0]}`).sort();
    expect(withOffsets(bounded(text).problems)).toEqual(withOffsets([...errors, ...warnings]));
    expect(bounded(text).problems.length).toBeGreaterThan(0);
  });

  it("stops at the limit of errors", () => {
    expect(bounded(`a: [${",".repeat(1_000)}`, 7).problems).toHaveLength(7);
  });
});
