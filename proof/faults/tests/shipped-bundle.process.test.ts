import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { bundleOf } from "../../../local/bundle/worker-bundle";
import { wranglerQuietly } from "../../../local/bundle/wrangler";
import { CONTROL_PATH, HALTED } from "../build/orders";

/** Texts that occur only in the test build. */
const MARKS = [CONTROL_PATH, HALTED, "faultyContext", "commit.durable", "crashingFetch"];

/** The text of all modules in a folder. */
async function textIn(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const modules = names.filter((name) => name.endsWith(".mjs"));
  return (await Promise.all(modules.map((name) => readFile(path.join(folder, name), "utf8")))).join(
    "",
  );
}

/** What wrangler would upload. */
async function shippedText(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), "massgen-bundle-"));
  try {
    await wranglerQuietly(["deploy", "--config", "wrangler.toml", "--dry-run", "--outdir", dir]);
    return await textIn(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

it("the deployed bundle has no crash points and accepts no orders", async () => {
  const shipped = await shippedText();
  expect(MARKS.filter((mark) => shipped.includes(mark))).toEqual([]);
  const faulty = await textIn(await bundleOf("proof/faults/build/faulty-worker.ts"));
  expect(MARKS.filter((mark) => faulty.includes(mark))).toEqual(MARKS);
});
