import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { countOf, rotated } from "../counts";
import { BASELINE } from "./conformance-baseline";

/**
 * Runs the client side of the protocol's conformance suite. Each scenario that a protocol revision
 * requires runs over that revision's wire format.
 */

const SUITE = path.resolve("node_modules/@modelcontextprotocol/conformance");
const RequirementsSchema = z.looseObject({ client: z.array(z.string()) });
const client = path.resolve("node_modules/.cache/massgen-edge/conformance-client.mjs");
const resultsFolder = mkdtempSync(path.join(tmpdir(), "conformance-"));

beforeAll(async () => {
  const entryPoints = ["proof/conformance/conformance-client.ts"];
  await build({
    entryPoints,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile: client,
    logLevel: "error",
  });
});

/** Runs one scenario. Returns whether it passed, and the suite's output. */
function run(scenario: string, revision: string): Promise<{ passed: boolean; output: string }> {
  const suite = [
    path.join(SUITE, "dist/index.js"),
    "client",
    "--scenario",
    scenario,
    "--spec-version",
    revision,
  ];
  const command = [
    "--command",
    `${process.execPath} ${client}`,
    "--timeout",
    "60000",
    "-o",
    resultsFolder,
  ];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...suite, ...command],
      { timeout: 120_000 },
      (error, stdout, stderr) => resolve({ passed: error === null, output: `${stdout}${stderr}` }),
    );
  });
}

const REVISIONS = rotated(["2025-11-25", "2026-07-28"], countOf("mcp_revisions"));

describe.each(REVISIONS)("the client speaks %s", (revision) => {
  const required = RequirementsSchema.parse(
    parse(readFileSync(path.join(SUITE, `requirements/${revision}.yaml`), "utf8")),
  ).client;
  const expectedFailures = BASELINE[revision] ?? new Map<string, string>();

  it("lists only required scenarios in the baseline", () => {
    expect([...expectedFailures.keys()].filter((name) => !required.includes(name))).toEqual([]);
  });

  it.each(required.filter((name) => !expectedFailures.has(name)))("%s passes", async (scenario) => {
    const { passed, output } = await run(scenario, revision);
    expect(passed, output).toBe(true);
  });

  it.each(required.filter((name) => expectedFailures.has(name)))(
    "%s fails, as listed in the baseline",
    async (scenario) => {
      const { passed, output } = await run(scenario, revision);
      expect(passed, output).toBe(false);
    },
  );
});
