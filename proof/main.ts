import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { matching, runCommand, UsageError } from "../local/command-line";
import { CAMPAIGNS, type Campaign, isInTests, nameOf, projectOf } from "./campaigns";
import { COUNTS, SIZES, type Size } from "./counts";
import { type Commit, commitOf } from "./commit";
import { appendResult, type CampaignResult, readResults, writeResults } from "./campaign-results";
import { playAll } from "./play";
import { readCounts } from "./report";

/**
 * Plays the campaigns in one size, one after another. Exits with 1 if a campaign failed, with 2 for
 * invalid arguments. An interrupted run of the same commit continues where it stopped: passed
 * campaigns are not played again.
 */
const USAGE = `npm run proof -- --size change|nightly|release

  --size SIZE   change: minutes, with every change; nightly: everything; release: hours
  --only TEXT   only the campaigns whose names contain this
  --fresh       play campaigns again that have passed on this commit
  --list        print the campaigns with their counts, of the size change if none is named

The sizes are in proof/counts.ts. Passed campaigns of nightly and release are appended to docs/proof/.`;

const OPTIONS = {
  size: { type: "string" },
  only: { type: "string" },
  fresh: { type: "boolean" },
  list: { type: "boolean" },
  help: { type: "boolean" },
} as const;

const CACHE = path.resolve("node_modules/.cache/massgen-edge/proof");

function sizeNamed(text: string | undefined): Size {
  const size = SIZES.find((name) => name === text);
  if (!size)
    throw new UsageError(`--size is one of ${SIZES.join(", ")}, not "${text ?? ""}".\n\n${USAGE}`);
  return size;
}

/** "kills 40, kill_pairs 1"; "all" for an infinite count. */
const countsInWords = ({ counts }: Campaign, size: Size): string =>
  counts
    .map(
      (count) => `${count} ${Number.isFinite(COUNTS[count][size]) ? COUNTS[count][size] : "all"}`,
    )
    .join(", ") || "everything";

/** Runs one campaign with its output on this terminal. */
function vitestOn(campaign: Campaign, env: Record<string, string>): Promise<number> {
  const child = spawn("npx", ["vitest", "run", "--project", projectOf(campaign), campaign.file], {
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/**
 * Plays a campaign and counts its tests. A runner that exits with 0 but ran no test counts as
 * failed.
 */
async function played(campaign: Campaign, size: Size, commit: Commit): Promise<CampaignResult> {
  const startedAt = performance.now();
  const report = reportOf(campaign, size);
  const code = await vitestOn(campaign, {
    PROOF_SIZE: size,
    PROOF_ROTATION: String(commit.rotation),
    TEST_REPORT: report,
  });
  const { passed, failed } = await readCounts(report);
  return {
    campaign: nameOf(campaign),
    counts: countsInWords(campaign, size),
    passed,
    failed: failed + (code !== 0 && failed === 0 ? 1 : 0) + (passed + failed === 0 ? 1 : 0),
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    at: new Date().toISOString(),
  };
}

/** CI collects all reports in one folder and counts from them. */
const reportOf = (campaign: Campaign, size: Size): string =>
  path.join(
    process.env["TEST_REPORTS"] ?? path.join(CACHE, "reports"),
    `proof-${size}-${nameOf(campaign).replaceAll("/", "-")}.json`,
  );

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const size = sizeNamed(values.size ?? (values.list ? "change" : undefined));
  const all = matching(CAMPAIGNS, values.only ?? "", nameOf);
  // The slices of the other campaigns are part of `npm test`.
  const wanted =
    size === "change" && values.only === undefined ? all.filter((one) => !isInTests(one)) : all;
  if (values.list) {
    for (const campaign of wanted)
      console.log(
        `${nameOf(campaign).padEnd(22)} ${countsInWords(campaign, size)}\n  ${campaign.about}`,
      );
    return 0;
  }
  const commit = commitOf();
  const ledger = path.join(CACHE, `${size}-${commit.id}.json`);
  await mkdir(CACHE, { recursive: true });
  const before = values.fresh || commit.changed ? [] : await readResults(ledger);
  const results = await playAll(wanted, before, {
    play: (campaign) => played(campaign, size, commit),
    keep: async (done) => (commit.changed ? undefined : writeResults(ledger, done)),
    onPlayed: async (result) =>
      size === "change" ? undefined : appendResult(result, size, commit),
    print: (line) => console.log(line),
  });
  return printTotal(results, { size, commit });
}

type Playing = { size: Size; commit: Commit };

/** Prints the totals last, on a line of their own. */
function printTotal(results: readonly CampaignResult[], { size, commit }: Playing): number {
  const sum = (of: (one: CampaignResult) => number) =>
    results.reduce((total, one) => total + of(one), 0);
  console.log(
    `\nproof, size ${size}, commit ${commit.words}: ${results.length} campaigns in ${sum(({ seconds }) => seconds)} s`,
  );
  const failed = results.filter((one) => one.failed > 0);
  for (const { campaign } of failed)
    console.log(
      `failed: ${campaign}. Play it again: npm run proof -- --size ${size} --only ${campaign}`,
    );
  console.log(`${sum(({ passed }) => passed)} passed, ${sum((one) => one.failed)} failed`);
  return failed.length > 0 ? 1 : 0;
}

await runCommand(main);
