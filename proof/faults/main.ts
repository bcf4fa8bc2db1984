import { parseArgs } from "node:util";
import { LIMITS } from "../../src/coordination";
import { nothingMatches, runCommand, UsageError, wholeNumber } from "../../local/command-line";
import { clients } from "./clients/campaign";
import { toClientReport } from "./clients/report";
import { campaign, type Figures, replay } from "./kills/campaign";
import type { Kill, Outcome, Plan } from "./kills/case";
import { KINDS, type KindName } from "./runs/kinds";
import { parsePoint } from "./kills/points";
import { isSound, percentile, toReport } from "./kills/report";
import { recordFigures } from "../record-figures";
import { SESSIONS, parseSoakArguments } from "./soak/soak-arguments";
import { soak } from "./soak/campaign";
import { shortcomings } from "./soak/figures";
import { toRestLine, toSampleLine, toSoakReport } from "./soak/report";
import { storageFaults } from "./storage-faults/campaign";
import { toStorageFaultReport } from "./storage-faults/report";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const USAGE = `npm run faults -- [what] [--seed S]

  --kills N            kill the real runtime (SIGKILL) at N random moments and places, with clients connected (100)
  --at-random N        at least N of them at random moments of a run (0)
  --points [N]         first kill at every named place, N times each (1)
  --pairs N            then kill at N pairs of places, the second one during recovery
  --lanes N            number of services that run side by side (2)
  --runs A,B --at X,Y  one case: kills at places (commit.open/vote.cast:2) or after a time (350ms)
                       Exit code 1: a promise was broken, a place or too many pairs were not reached, or it
                       ended early, after 20 failed cases or because no run was active at the kills.

  --clients [N]        clients that vanish, connect at once, read slowly or send wrong ids; N histories of 20 clients on one session (10)
  --agents N           agents that write the largest session for the slow readers (${LIMITS.agents}, the largest team)
  --storage [N]        faults of storage, tenant, D1, alarms and clock, N times each (1)
  --only TEXT          only clients or faults whose name contains TEXT

  --soak MINUTES       run one service under load without a restart, with a fault every ten seconds; memory and
                       disk are measured every minute. Ctrl-C starts no more sessions, waits for the active ones (minutes, up to
                       half an hour if the faults cannot be cleared), and prints the figures so far
  --sessions N         number of concurrent sessions (${SESSIONS})

  --record             with --kills: store the figures in docs/proof/data/campaigns.json, for the documents

The exit code is 1 if anything was broken, and 2 if the arguments are invalid.`;

const OPTIONS = {
  kills: { type: "string" },
  "at-random": { type: "string" },
  points: { type: "string" },
  pairs: { type: "string" },
  lanes: { type: "string" },
  seed: { type: "string" },
  runs: { type: "string" },
  at: { type: "string" },
  clients: { type: "string" },
  agents: { type: "string" },
  storage: { type: "string" },
  only: { type: "string" },
  soak: { type: "string" },
  sessions: { type: "string" },
  record: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: process.argv.slice(2).flatMap(withDefault),
    options: OPTIONS,
  });
  const seed = wholeNumber("seed", values.seed) ?? Date.now() % 1_000_000;
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (values.soak !== undefined) return playSoak(seed, values);
  if (values.sessions !== undefined) throw new UsageError("--sessions goes with --soak.");
  if (values.storage !== undefined) return playStorageFaults(seed, values);
  if (values.clients !== undefined) return playClients(seed, values);
  if (values.at !== undefined)
    return playOne({ seed, ...caseOf(values.runs ?? "story", values.at) });
  if (values.runs !== undefined)
    throw new UsageError("--runs goes with --at, which says where they are killed.");
  if (values.only !== undefined) throw new UsageError("--only goes with --storage or --clients.");
  return playKills(seed, values);
}

const caseOf = (kinds: string, at: string) => ({
  kinds: kindsIn(kinds),
  kills: at.split(",").map(toKill),
  isWanted: true,
});

async function playKills(
  seed: number,
  { kills, "at-random": atRandom, points, pairs, lanes, record }: Values,
): Promise<number> {
  const options = {
    kills: wholeNumber("kills", kills) ?? 100,
    atRandom: wholeNumber("at-random", atRandom) ?? 0,
    eachPlace: wholeNumber("points", points) ?? 0,
    pairs: wholeNumber("pairs", pairs) ?? 0,
  };
  if (Object.values(options).every((times) => times === 0))
    throw new UsageError("There is nothing to play: ask for a kill at least.");
  const figures = await campaign({
    seed,
    ...options,
    lanes: wholeNumber("lanes", lanes, 1) ?? 2,
    onCase: printOutcome,
  });
  process.stdout.write(toReport(figures));
  if (record) await recordFigures("campaigns", { kills: { data: recordedKills(figures) } });
  return isSound(figures) ? 0 : 1;
}

/** The figures that documents show. */
const recordedKills = ({ kills, places, pairs, runs, recoveryMs, failures }: Figures) => ({
  kills: kills.random + kills.atPlaces,
  random: kills.random,
  atPlaces: kills.atPlaces,
  places: places.reached,
  pairs: pairs.reached,
  runs: Object.values(runs).reduce((sum, count) => sum + count, 0),
  broken: failures.length,
  recoveryMs: { median: percentile(recoveryMs, 0.5), p99: percentile(recoveryMs, 0.99) },
});

async function playStorageFaults(seed: number, { storage, only }: Values): Promise<number> {
  const figures = await storageFaults({
    seed,
    each: wholeNumber("storage", storage, 1) ?? 1,
    ...(only === undefined ? {} : { only }),
    onFault: ({ fault, problems }) =>
      process.stderr.write(`${problems.length === 0 ? "✓" : "✗"} ${fault.name}\n`),
  });
  process.stdout.write(toStorageFaultReport(figures));
  return figures.failures.length > 0 ? 1 : 0;
}

async function playClients(
  seed: number,
  { clients: histories, agents, only }: Values,
): Promise<number> {
  const figures = await clients({
    seed,
    histories: wholeNumber("clients", histories) ?? 0,
    loudAgents: wholeNumber("agents", agents, 1) ?? LIMITS.agents,
    ...(only === undefined ? {} : { only }),
    onScene: ({ name, problems }) =>
      process.stderr.write(`${problems.length === 0 ? "✓" : "✗"} ${name}\n`),
  });
  process.stdout.write(toClientReport(figures));
  return figures.scenes.some(({ problems }) => problems.length > 0) ? 1 : 0;
}

async function playSoak(seed: number, values: Values): Promise<number> {
  const options = parseSoakArguments(values);
  const interrupted = new AbortController();
  const figures = await soak({
    seed,
    ...options,
    interrupted: interrupted.signal,
    onStarted: () => endGently(interrupted),
    onSample: (sample) => process.stderr.write(`${toSampleLine(sample)}\n`),
    onRest: (sample) => process.stderr.write(`${toRestLine(sample)}\n`),
    onFailure: ({ name, problems, folder }) =>
      process.stderr.write(`✗ ${name}: ${problems.join("\n  ")}\n  kept in ${folder}\n`),
  });
  process.stdout.write(toSoakReport(figures));
  return shortcomings(figures).length > 0 ? 1 : 0;
}

/**
 * npm forwards a signal that the terminal already sent to the whole process group, so each Ctrl-C
 * arrives twice.
 */
const REPEATED_SIGNAL_MS = 1_000;

/**
 * Ctrl-C ends the soak gently; a second one exits at once. Removes other listeners: the runtime's
 * own would exit immediately, and it cleans up at any exit.
 */
function endGently(interrupted: AbortController): void {
  let firstAt = 0;
  const end = () => {
    if (interrupted.signal.aborted)
      return performance.now() - firstAt < REPEATED_SIGNAL_MS ? undefined : process.exit(1);
    firstAt = performance.now();
    interrupted.abort();
    process.stderr.write("Waiting for the active sessions. Press Ctrl-C again to stop at once.\n");
  };
  for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, end);
}

/** Values of options that are typed without a number. */
const DEFAULTS: Readonly<Record<string, string>> = {
  "--points": "1",
  "--storage": "1",
  "--clients": "10",
};

function withDefault(arg: string, nth: number, all: readonly string[]): string[] {
  const alone = DEFAULTS[arg];
  return alone !== undefined && !/^\d+$/.test(all[nth + 1] ?? "") ? [arg, alone] : [arg];
}

async function playOne(plan: Plan): Promise<number> {
  const figures = await replay(plan, printOutcome);
  process.stdout.write(toReport(figures));
  return isSound(figures) ? 0 : 1;
}

function printOutcome({ plan, killed, missed, problems }: Outcome): void {
  const places = killed.map(({ where }) => where).join(", ");
  const rest = missed.length === 0 ? "" : `; not reached: ${missed.join(", ")}`;
  process.stderr.write(
    `${problems.length === 0 ? "✓" : "✗"} ${plan.seed} ${plan.kinds.join("+")}: ${places}${rest}\n`,
  );
}

const toKill = (text: string): Kill => {
  const ms = /^(\d+)ms$/.exec(text)?.[1];
  return ms === undefined ? parsePoint(text) : { afterMs: Number(ms) };
};

function kindsIn(text: string): KindName[] {
  return text.split(",").map((name) => {
    if (!isKind(name)) throw nothingMatches(name, Object.keys(KINDS));
    return name;
  });
}

const isKind = (name: string): name is KindName => Object.hasOwn(KINDS, name);

// An interrupted command still stops its services: they are stopped when the process exits.
for (const signal of SIGNALS) process.on(signal, () => process.exit(1));
await runCommand(main);
