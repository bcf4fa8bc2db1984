import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleOf } from "../../local/bundle/worker-bundle";
import { modulesIn } from "../../local/service-plan";

/** A separate build in the working tree, where it finds the packages. */
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join("node_modules/.cache", "bundle-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORKER = path.resolve("src/worker");
/** An entry that prints `word`, through an imported file. */
function entrySaying(word: string): string {
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

it("a bundle is reused while its files are unchanged, and rebuilt when an imported file has changed", async () => {
  const first = await bundleOf(entrySaying("a-first-word"));
  expect(await textIn(first)).toContain("a-first-word");
  expect(await bundleOf(entrySaying("a-first-word"))).toBe(first);
  const second = await bundleOf(entrySaying("another-word"));
  expect(second).not.toBe(first);
  expect(await textIn(second)).toContain("another-word");
});
