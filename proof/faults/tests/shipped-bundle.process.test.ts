import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { wranglerQuietly } from "../../../local/bundle/wrangler";
import { CONTROL_PATH, HALTED } from "../build/orders";

/** Texts that occur only in the test build. */
const MARKS = [CONTROL_PATH, HALTED, "faultyContext", "commit.durable", "crashingFetch"];

async function bundleOf(...entry: string[]): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), "massgen-bundle-"));
  try {
    await wranglerQuietly([
      "deploy",
      ...entry,
      "--config",
      "wrangler.toml",
      "--dry-run",
      "--outdir",
      dir,
    ]);
    const names = (await readdir(dir)).filter((name) => name.endsWith(".js"));
    return (await Promise.all(names.map((name) => readFile(path.join(dir, name), "utf8")))).join(
      "",
    );
  } finally {
    await rm(dir, { recursive: true });
  }
}

it("the deployed bundle has no crash points and accepts no orders", async () => {
  const shipped = await bundleOf();
  expect(MARKS.filter((mark) => shipped.includes(mark))).toEqual([]);
  const faulty = await bundleOf("proof/faults/build/faulty-worker.ts");
  expect(MARKS.filter((mark) => faulty.includes(mark))).toEqual(MARKS);
});
