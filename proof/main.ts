import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { hasGroup, signalGroup } from "../local/process-group";
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

/** Number of parallel campaigns of the size change: most of them wait half of their time. */
const CHANGE_LANES = 2;
/** Time limit for interrupted campaigns to end, in ms. */
const END_WITHIN_MS = 5_000;

type Playing = { size: Size; commit: Commit; lanes: number };

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

/** Running campaigns, each the leader of its process group. */
const running = new Set<ChildProcess>();

/** Exit code of an interrupted command; `null` while it is not interrupted. */
let interrupted: number | null = null;

/** Ends the running campaigns with all their processes, then this command; records no result. */
async function endWithCampaigns(signal: NodeJS.Signals): Promise<void> {
  interrupted = signal === "SIGINT" ? 130 : 143;
  const campaigns = [...running];
  for (const child of campaigns) signalGroup(child, "SIGTERM");
  // A runner can outlive its starter, which is the only one whose end is reported.
  const killAt = performance.now() + END_WITHIN_MS;
  while (campaigns.some(hasGroup) && performance.now() < killAt + END_WITHIN_MS) {
    if (performance.now() > killAt) for (const child of campaigns) signalGroup(child, "SIGKILL");
    await sleep(20);
  }
  process.exit(interrupted);
}

/**
 * Runs one campaign. Its output appears at once if it runs alone, otherwise as a whole when it
 * ends.
 */
async function vitestOn(
  campaign: Campaign,
  env: Record<string, string>,
  isAlone: boolean,
): Promise<number> {
  const child = spawn("npx", ["vitest", "run", "--project", projectOf(campaign), campaign.file], {
    stdio: isAlone ? "inherit" : ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    detached: true,
  });
  running.add(child);
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => output.push(chunk));
  const [code] = await once(child, "close");
  running.delete(child);
  process.stdout.write(Buffer.concat(output));
  // The command ends: no campaign may start, and this one has no result.
  if (interrupted !== null) return new Promise(() => {});
  return code ?? 1;
}

/**
 * Plays a campaign and counts its tests. A runner that exits with 0 but ran no test counts as
 * failed.
 */
async function played(
  campaign: Campaign,
  { size, commit, lanes }: Playing,
): Promise<CampaignResult> {
  const startedAt = performance.now();
  const report = reportOf(campaign, size);
  const env = {
    PROOF_SIZE: size,
    PROOF_ROTATION: String(commit.rotation),
    TEST_REPORT: report,
  };
  const code = await vitestOn(campaign, env, lanes === 1 || campaign.isTimed === true);
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
  const lanes = size === "change" ? CHANGE_LANES : 1;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, endWithCampaigns);
  const playing = {
    play: (campaign: Campaign) => played(campaign, { size, commit, lanes }),
    keep: async (done: readonly CampaignResult[]) =>
      commit.changed ? undefined : writeResults(ledger, done),
    onPlayed: async (result: CampaignResult) =>
      size === "change" ? undefined : appendResult(result, size, commit),
    print: (line: string) => console.log(line),
  };
  return printTotal(await playAll(wanted, before, playing, lanes), { size, commit });
}

/** Prints the totals last, on a line of their own. */
function printTotal(
  results: readonly CampaignResult[],
  { size, commit }: Omit<Playing, "lanes">,
): number {
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
