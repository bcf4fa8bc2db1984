import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Metafile } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildWorker } from "../../local/bundle/worker-build";
import { bytesOf, LARGEST_BYTES, PARTS, partsIn } from "../../local/bundle/worker-parts";

const ENTRY = "src/worker.ts";
const API = [ENTRY, "src/worker/api.ts"];

const folder = mkdtempSync(path.join(tmpdir(), "massgen-parts-"));
let metafile: Metafile;
beforeAll(async () => {
  metafile = await buildWorker({ entry: ENTRY, folder, sourceMaps: false });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("the Worker loads exactly the listed parts on first use", () => {
  expect(partsIn(metafile)).toEqual([ENTRY, ...Object.keys(PARTS)].sort());
});

it("the runtime reads little code at a start and for first requests", () => {
  expect(bytesOf(metafile, [ENTRY])).toBeLessThanOrEqual(LARGEST_BYTES.start);
  const health = bytesOf(metafile, [...API, "src/api/docs/documentation.ts"]);
  expect(health).toBeLessThanOrEqual(LARGEST_BYTES.health);
  const sessions = bytesOf(metafile, [...API, "src/api/sessions/session-routes.ts"]);
  expect(sessions).toBeLessThanOrEqual(LARGEST_BYTES.sessions);
  expect(bytesOf(metafile, [ENTRY, ...Object.keys(PARTS)])).toBeGreaterThan(2_000_000);
});

it("classes keep their names, which a vendor's SDK sends as its user agent", () => {
  const texts = modules()
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => readFileSync(path.join(folder, name), "utf8"));
  expect(texts.filter((text) => /\b\w+\(\w+,"OpenAI"\)/.test(text))).not.toEqual([]);
});

it("a build removes the modules of earlier builds, and can run beside the same build", async () => {
  const stale = path.join(folder, "parts/stale-ABCDEFGH.mjs");
  writeFileSync(stale, "");
  const before = modules();
  const builds = [1, 2].map(() => buildWorker({ entry: ENTRY, folder, sourceMaps: false }));
  await Promise.all(builds);
  expect(modules()).toEqual(before.filter((file) => !file.startsWith("parts/stale")));
});

const modules = (): string[] => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
