import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { COUNTS } from "../../proof/counts";
import { MOST_LIVE_KEYS } from "../../src/tenancy/keys";
import { DEFAULT_STORED_BYTES, deploymentQuota } from "../../src/tenancy/quota";

/** Numbers in documents equal those in the code. */

const formatted = (count: number): string =>
  Number.isFinite(count) ? count.toLocaleString("en-US") : "all";

/** The cells of all table rows in a document. */
const rowsOf = (file: string): string[][] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

it("decision 0083 has the counts of the campaigns", () => {
  const rows = rowsOf("docs/decisions/0083-slices-of-a-change.md").slice(1);
  const counts = Object.entries(COUNTS);
  const stated = rows.map(([name = ""]) => name.replaceAll("`", ""));
  expect(stated.length).toBeGreaterThan(4);
  expect(rows).toEqual(
    stated.map((name) => {
      const [, count] = counts.find(([each]) => each === name) ?? [];
      return [`\`${name}\``, formatted(count?.change ?? 0), formatted(count?.nightly ?? 0)];
    }),
  );
});

it("the guide to keys and tenants has the limits of the code and of wrangler.toml", () => {
  const stated = Object.fromEntries(rowsOf("docs/guides/keys-and-tenants.md"));
  const settings = readFileSync("wrangler.toml", "utf8");
  const perMinute = (binding: string): string => {
    const [, limit] =
      new RegExp(`name = "${binding}"\n.*\nsimple = \\{ limit = (\\d+), period = 60 \\}`).exec(
        settings,
      ) ?? [];
    return `${formatted(Number(limit))} a minute`;
  };
  const { concurrentTurns, usdPerDay } = deploymentQuota({}, false);
  expect(stated).toMatchObject({
    "requests of one key": perMinute("RATE_LIMITER"),
    "requests of all keys of a tenant": perMinute("TENANT_RATE_LIMITER"),
    "valid keys of a tenant": String(MOST_LIVE_KEYS),
    "running turns of a tenant": `${concurrentTurns}, if not set`,
    "stored bytes": `${Number(DEFAULT_STORED_BYTES) / 1e9} GB, if not set`,
  });
  expect(usdPerDay).toBeNull();
});
