import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleOf } from "../../local/bundle/worker-bundle";
import { modulesIn } from "../../local/service-plan";

/** The folder of the bundles' source. It is in the working tree, so that packages are found. */
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join("node_modules/.cache", "bundle-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORKER = path.resolve("src/worker");
/** Writes an entry that exports `word` from an imported file. */
function writeEntry(word: string): string {
  const entry = path.join(folder, "entry.ts");
  writeFileSync(path.join(folder, "word.ts"), `export const word = "${word}";`);
  writeFileSync(
    entry,
    `export * from "${WORKER}"; export { default } from "${WORKER}"; export { word } from "./word";`,
  );
  return entry;
}

const textIn = async (bundle: string): Promise<string> =>
  (await modulesIn(bundle))[0]?.contents ?? "";

it("a bundle is reused until an imported file changes", async () => {
  const first = await bundleOf(writeEntry("a-first-word"));
  expect(await textIn(first)).toContain("a-first-word");
  expect(await bundleOf(writeEntry("a-first-word"))).toBe(first);
  const second = await bundleOf(writeEntry("another-word"));
  expect(second).not.toBe(first);
  expect(await textIn(second)).toContain("another-word");
});

it("bundles of one entry that are built at the same moment do not disturb each other", async () => {
  const entry = writeEntry("a-word-of-many");
  const bundles = await Promise.all(Array.from({ length: 4 }, () => bundleOf(entry)));
  for (const bundle of bundles) expect(await textIn(bundle)).toContain("a-word-of-many");
});
