import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { hasGroup, signalGroup } from "../local/process-group";
import { matching, runCommand, UsageError } from "../local/command-line";
import { CAMPAIGNS, type Campaign, isInTests, nameOf, projectsOf } from "./campaigns";
import { COUNTS, SIZES, type Size } from "./counts";
import { type Commit, commitOf } from "./commit";
import { appendResult, type CampaignResult, readResults, writeResults } from "./campaign-results";
import { playAll } from "./play";
import { readCounts } from "./report";

/**
 * Plays the campaigns in one size. Exits with 1 if a campaign failed, with 2 for invalid arguments.
 * A repeated run on the same commit does not play passed campaigns again, so an interrupted run
 * continues where it stopped.
 */
const USAGE = `npm run proof -- --size change|nightly|release

  --size SIZE   change: minutes, with every change; nightly: everything;
                release: hours
  --only TEXT   only the campaigns whose names contain this
  --fresh       play campaigns again that have passed on this commit
  --list        print the campaigns with their counts, of the size change if
                none is named

The sizes are in proof/counts.ts. The results of nightly and release are
appended to docs/proof/runs.md.`;

const OPTIONS = {
  size: { type: "string" },
  only: { type: "string" },
  fresh: { type: "boolean" },
  list: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** Number of parallel campaigns in the size `change`, because most of them are often idle. */
const CHANGE_LANES = 2;
/** Time limit for interrupted campaigns to end, in ms. */
const END_WITHIN_MS = 5_000;

type RunOptions = { size: Size; commit: Commit; lanes: number };

const CACHE = path.resolve("node_modules/.cache/massgen-edge/proof");

function sizeNamed(text: string | undefined): Size {
  const size = SIZES.find((name) => name === text);
  if (!size)
    throw new UsageError(`--size is one of ${SIZES.join(", ")}, not "${text ?? ""}".\n\n${USAGE}`);
  return size;
}

/** For example "kills 40, kill_pairs 1"; an infinite count is shown as "all". */
const countsInWords = ({ counts }: Campaign, size: Size): string =>
  counts
    .map(
      (count) => `${count} ${Number.isFinite(COUNTS[count][size]) ? COUNTS[count][size] : "all"}`,
    )
    .join(", ") || "everything";

/** The processes of running campaigns. Each is the leader of its process group. */
const running = new Set<ChildProcess>();

/** Exit code after an interruption; `null` if the command was not interrupted. */
let interruptedWith: number | null = null;

/** Ends the running campaigns with all their processes, then this command; records no result. */
async function endWithCampaigns(signal: NodeJS.Signals): Promise<void> {
  interruptedWith = signal === "SIGINT" ? 130 : 143;
  const campaigns = [...running];
  for (const child of campaigns) signalGroup(child, "SIGTERM");
  // Only the end of `npx` is reported. Vitest, which `npx` started, can run longer.
  const killAt = performance.now() + END_WITHIN_MS;
  while (campaigns.some(hasGroup) && performance.now() < killAt + END_WITHIN_MS) {
    if (performance.now() > killAt) for (const child of campaigns) signalGroup(child, "SIGKILL");
    await sleep(20);
  }
  process.exit(interruptedWith);
}

/**
 * Runs one campaign and returns vitest's exit code. A campaign that runs alone prints immediately;
 * the output of parallel campaigns is printed when they end, so that outputs do not mix.
 */
async function runVitest(
  campaign: Campaign,
  env: Record<string, string>,
  isAlone: boolean,
): Promise<number> {
  const projects = projectsOf(campaign).flatMap((name) => ["--project", name]);
  const child = spawn("npx", ["vitest", "run", ...projects, campaign.file], {
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
  // After an interruption no campaign may start and this one has no result, so never resolve.
  if (interruptedWith !== null) return new Promise(() => {});
  return code ?? 1;
}

/**
 * Plays a campaign and counts its tests. Counts one failure more if vitest fails without a failed
 * test, or if no test ran.
 */
async function playCampaign(
  campaign: Campaign,
  { size, commit, lanes }: RunOptions,
): Promise<CampaignResult> {
  const startedAt = performance.now();
  const report = reportOf(campaign, size);
  const env = {
    PROOF_SIZE: size,
    PROOF_ROTATION: String(commit.rotation),
    TEST_REPORT: report,
  };
  const isAlone = lanes === 1 || campaign.isTimed === true;
  const code = await runVitest(campaign, env, isAlone);
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

/** The file of a campaign's test report. CI sets `TEST_REPORTS` and reads all reports there. */
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
  // In the size `change`, the tests (`npm run test:all`) play the other campaigns.
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
  const earlierResults = values.fresh || commit.changed ? [] : await readResults(ledger);
  const lanes = size === "change" ? CHANGE_LANES : 1;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, endWithCampaigns);
  const effects = {
    play: (campaign: Campaign) => playCampaign(campaign, { size, commit, lanes }),
    store: async (done: readonly CampaignResult[]) =>
      commit.changed ? undefined : writeResults(ledger, done),
    onPlayed: async (result: CampaignResult) =>
      size === "change" ? undefined : appendResult(result, size, commit),
    print: (line: string) => console.log(line),
  };
  const results = await playAll(wanted, earlierResults, effects, lanes);
  return printTotal(results, { size, commit });
}

/** Prints the failed campaigns and, on the last line, the totals. Returns the exit code. */
function printTotal(
  results: readonly CampaignResult[],
  { size, commit }: Omit<RunOptions, "lanes">,
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
