import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashOfBundle, KNOWN_BUNDLE, meteredBundle } from "./metered.ts";

/**
 * Next to the original, so that imports resolve to the same versions. `npm ci` removes it; every
 * build writes it.
 */
const FOLDER = "node_modules/just-bash/dist/bundle";
export const ORIGINAL = `${FOLDER}/browser.js`;
export const METERED = `${FOLDER}/browser.metered.js`;
const EDITS = "local/bundle/shell";

/**
 * Writes the metered shell into the working tree at `root` unless it exists. Builds may run
 * concurrently: each writes its own file and renames it. Throws if `just-bash` is not the supported
 * version.
 */
export function writeMeteredShell(root = "."): void {
  const target = path.join(root, METERED);
  const original = readFileSync(path.join(root, ORIGINAL), "utf8");
  const mark = `// Derived from just-bash ${hashOfBundle(original)} by ${editsAt(root)}`;
  if (hashOfBundle(original) === KNOWN_BUNDLE && markOf(target) === mark) return;
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, `${mark}\n${meteredBundle(original)}`);
  renameSync(draft, target);
}

/** Hash of the edits: a change of one derives the shell again. */
const editsAt = (root: string): string =>
  hashOfBundle(
    ["metered.ts", "syntax-tree.ts"]
      .map((name) => readFileSync(path.join(root, EDITS, name), "utf8"))
      .join("\n"),
  );

function markOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8").split("\n", 1)[0] ?? null;
  } catch {
    return null;
  }
}
