import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseSuite } from "../../src/evals/parse-suite";

/** The schedule of the job that deletes unfinished uploads. */
const SWEEP = "23 3 * * *";

it("wrangler.toml has the schedules of the included suites, one daily sweep, and no others", () => {
  const cronList =
    /^\[triggers\]\ncrons = \[(.*)\]$/m.exec(readFileSync("wrangler.toml", "utf8"))?.[1] ?? "";
  const crons = readdirSync("configs/evals").flatMap((file) => {
    const result = parseSuite(readFileSync(`configs/evals/${file}`, "utf8"));
    return (result.ok && result.suite.cron) || [];
  });
  expect(crons).not.toEqual([]);
  expect([...cronList.matchAll(/"([^"]+)"/g)].map(([, cron]) => cron).sort()).toEqual(
    [...new Set([...crons, SWEEP])].sort(),
  );
});
