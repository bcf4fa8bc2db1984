import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Metafile } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildWorker } from "../../local/bundle/worker-build";
import { bytesOf, LARGEST_BYTES, PARTS, partsIn } from "../../local/bundle/worker-parts";

const ENTRY = "src/worker.ts";
const API = "src/worker/api.ts";

const folder = mkdtempSync(path.join(tmpdir(), "massgen-parts-"));
let metafile: Metafile;
beforeAll(async () => {
  metafile = await buildWorker({ entry: ENTRY, folder, sourceMaps: false });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("the Worker loads exactly the listed parts on first use", () => {
  expect(partsIn(metafile)).toEqual([ENTRY, ...Object.keys(PARTS)].sort());
});

it("the runtime reads little code at a start, and at the first request to the API", () => {
  expect(bytesOf(metafile, [ENTRY])).toBeLessThanOrEqual(LARGEST_BYTES.start);
  expect(bytesOf(metafile, [ENTRY, API])).toBeLessThanOrEqual(LARGEST_BYTES.api);
  expect(bytesOf(metafile, [ENTRY, ...Object.keys(PARTS)])).toBeGreaterThan(2_000_000);
});
