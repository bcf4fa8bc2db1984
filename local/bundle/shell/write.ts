import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { hashOfBundle, KNOWN_BUNDLE, meteredBundle } from "./metered.ts";

/**
 * The folder of both shells. The metered shell is next to the original, so that its imports resolve
 * to the same versions. `npm ci` removes the metered shell, and every build writes it again.
 */
const FOLDER = "node_modules/just-bash/dist/bundle";
export const ORIGINAL = `${FOLDER}/browser.js`;
export const METERED = `${FOLDER}/browser.metered.js`;
/** The folder of the files that define the edits. */
const EDITS_FOLDER = "local/bundle/shell";

/**
 * Writes the metered shell into the working tree at `root`, unless its current version exists.
 * Builds may run concurrently, so each build writes its own file and renames it. Throws if
 * `just-bash` is not the supported version.
 */
export function writeMeteredShell(root = "."): void {
  const target = path.join(root, METERED);
  const original = readFileSync(path.join(root, ORIGINAL), "utf8");
  const mark = `// Derived from just-bash ${hashOfBundle(original)} by ${hashOfEdits(root)}`;
  if (hashOfBundle(original) === KNOWN_BUNDLE && markOf(target) === mark) return;
  const temporaryFile = `${target}.${process.pid}`;
  writeFileSync(temporaryFile, `${mark}\n${meteredBundle(original)}`);
  renameSync(temporaryFile, target);
}

/** Hash of the files that define the edits. If one of them changes, the shell is derived again. */
const hashOfEdits = (root: string): string =>
  hashOfBundle(
    ["metered.ts", "syntax-tree.ts"]
      .map((name) => readFileSync(path.join(root, EDITS_FOLDER, name), "utf8"))
      .join("\n"),
  );

function markOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8").split("\n", 1)[0] ?? null;
  } catch {
    return null;
  }
}
