import { parseArgs } from "node:util";
import { LIMITS } from "../../src/coordination";
import { nothingMatches, runCommand, UsageError, wholeNumber } from "../../local/command-line";
import { clients } from "./clients/campaign";
import { toClientReport } from "./clients/report";
import { campaign, replay } from "./kills/campaign";
import type { Kill, Outcome, Plan } from "./kills/case";
import { KINDS, type KindName } from "./runs/kinds";
import { parsePoint } from "./kills/points";
import { isSound, toReport } from "./kills/report";
import { SESSIONS, soakAsked } from "./soak/asked";
import { soak } from "./soak/campaign";
import { shortcomings } from "./soak/figures";
import { toRestLine, toSampleLine, toSoakReport } from "./soak/report";
import { troubles } from "./troubles/campaign";
import { toTroubleReport } from "./troubles/report";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const USAGE = `npm run faults -- [what] [--seed S]

  --kills N            SIGKILL of the real runtime at N random moments and places, with clients watching (100)
  --at-random N        of them at random moments of a run at least N (0)
  --points [N]         first at every named place, N times each (1)
  --pairs N            then at N pairs of places, the second while the service comes back
  --lanes N            services side by side (2)
  --runs A,B --at X,Y  one case: kills at places (commit.open/vote.cast:2) or after a while (350ms)
                       Ends with 1 if a promise was broken, a place or so many pairs were not come to, or it ended early:
                       after 20 failed cases, or where kills find nothing to hit.

  --clients [N]        clients that vanish, crowd, read slowly or claim strange ids; N histories of 20 on one session (10)
  --agents N           how many write the largest session for the slow readers (${LIMITS.agents}, which is all that a team may have)
  --storage [N]        storage, tenant and D1 failing, slow or ambiguous, alarms and clocks gone wrong, N times each (1)
  --only TEXT          only those whose name holds this

  --soak MINUTES       one service under load for so long, never started again, while something goes wrong every ten seconds; memory and
                       disk are looked at every minute. Ctrl-C begins no more, sees what is on to its end, which takes minutes (up to
                       half an hour of a service that cannot be told to be well again), and gives the figures so far
  --sessions N         so many at a time (${SESSIONS})

The exit code is 1 if anything was broken, and 2 if what was typed cannot be meant.`;

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
  if (values.storage !== undefined) return playTroubles(seed, values);
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
  { kills, "at-random": atRandom, points, pairs, lanes }: Values,
): Promise<number> {
  const asked = {
    kills: wholeNumber("kills", kills) ?? 100,
    atRandom: wholeNumber("at-random", atRandom) ?? 0,
    eachPlace: wholeNumber("points", points) ?? 0,
    pairs: wholeNumber("pairs", pairs) ?? 0,
  };
  if (Object.values(asked).every((times) => times === 0))
    throw new UsageError("There is nothing to play: ask for a kill at least.");
  const figures = await campaign({
    seed,
    ...asked,
    lanes: wholeNumber("lanes", lanes, 1) ?? 2,
    onCase: tell,
  });
  process.stdout.write(toReport(figures));
  return isSound(figures) ? 0 : 1;
}

async function playTroubles(seed: number, { storage, only }: Values): Promise<number> {
  const figures = await troubles({
    seed,
    each: wholeNumber("storage", storage, 1) ?? 1,
    ...(only === undefined ? {} : { only }),
    onTrouble: ({ trouble, problems }) =>
      process.stderr.write(`${problems.length === 0 ? "✓" : "✗"} ${trouble.name}\n`),
  });
  process.stdout.write(toTroubleReport(figures));
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
  const asked = soakAsked(values);
  const interrupted = new AbortController();
  const figures = await soak({
    seed,
    ...asked,
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
const SAID_TWICE_MS = 1_000;

/**
 * Ctrl-C ends the soak gently; a second one exits at once. Removes other listeners: the runtime's
 * own would exit immediately, and it cleans up at any exit.
 */
function endGently(interrupted: AbortController): void {
  let firstAt = 0;
  const end = () => {
    if (interrupted.signal.aborted)
      return performance.now() - firstAt < SAID_TWICE_MS ? undefined : process.exit(1);
    firstAt = performance.now();
    interrupted.abort();
    process.stderr.write(
      "No more is begun; what is on is seen to its end. Once more ends it at once.\n",
    );
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
  const figures = await replay(plan, tell);
  process.stdout.write(toReport(figures));
  return isSound(figures) ? 0 : 1;
}

function tell({ plan, killed, missed, problems }: Outcome): void {
  const places = killed.map(({ where }) => where).join(", ");
  const rest = missed.length === 0 ? "" : `; never came to ${missed.join(", ")}`;
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
