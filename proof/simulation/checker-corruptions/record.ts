import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const FILE = path.resolve("proof/simulation/checker-corruptions/violations.txt");

/**
 * The recorded violations by the name of the corruption. The file has a paragraph for each
 * corruption: its name, then an indented line for each violation.
 */
export const readRecord = (): ReadonlyMap<string, string[]> =>
  new Map(
    readFileSync(FILE, "utf8")
      .trimEnd()
      .split("\n\n")
      .map((paragraph) => paragraph.split("\n"))
      .map(([name = "", ...violations]) => [name, violations.map((sentence) => sentence.trim())]),
  );

/** Replaces the record. */
export function writeRecord(violations: ReadonlyMap<string, readonly string[]>): void {
  const paragraphs = [...violations].map(([name, sentences]) =>
    [name, ...sentences.map((one) => `  ${one}`)].join("\n"),
  );
  writeFileSync(FILE, `${paragraphs.join("\n\n")}\n`);
}
