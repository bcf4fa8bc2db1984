import { parseArgs } from "node:util";
import { UsageError, wholeNumber } from "../../local/command-line";
import { LIMITS } from "../../src/coordination/limits";
import { parseSoakArguments, SESSIONS } from "./soak/soak-arguments";

export const USAGE = `npm run faults -- [what] [--seed S]

  --kills N            kill the real runtime (SIGKILL) at N random moments and
                       places, with clients connected (100)
  --at-random N        at least N of them at random moments of a run (0)
  --points [N]         first kill at every named place, N times each (1)
  --pairs N            then kill at N pairs of places, the second one during
                       recovery
  --lanes N            number of services that run side by side (2)
  --runs A,B --at X,Y  one case: kills at places (commit.open/vote.cast:2) or
                       after a time (350ms)
                       Exit code 1: a promise was broken, a place or too many
                       pairs were not reached, or it ended early, after 20
                       failed cases or because no run was active at the kills.

  --clients [N]        clients that vanish, connect at once, read slowly or send
                       wrong ids; N histories of 20 clients on one session (10)
  --agents N           agents that write the largest session for the slow
                       readers (${LIMITS.agents}, the largest team)
  --storage [N]        faults of storage, tenant, D1, alarms and clock,
                       N times each (1)
  --only TEXT          only clients or faults whose name contains TEXT

  --soak MINUTES       run one service under load without a restart, with a
                       fault every ten seconds; memory and disk are measured
                       every minute. Ctrl-C starts no more sessions, waits for
                       the active ones (minutes, up to half an hour if the
                       faults cannot be cleared), and prints the figures so far
  --sessions N         number of concurrent sessions (${SESSIONS})

  --record             with --kills: store the figures in
                       docs/proof/data/campaigns.json, for the documents

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

/** `each`: how often each fault is played. `only`: part of a fault's name; `null`: all faults. */
export type StorageArguments = { type: "storage"; seed: number; each: number; only: string | null };
/**
 * `loudAgents`: number of agents that write the largest session. `only`: part of a scene's name;
 * `null`: all scenes.
 */
export type ClientsArguments = {
  type: "clients";
  seed: number;
  histories: number;
  loudAgents: number;
  only: string | null;
};
export type SoakArguments = { type: "soak"; seed: number; minutes: number; sessions: number };
/**
 * One case. `kinds`: names of the kinds of runs. `at`: places or times of the kills. Both are texts
 * as the user typed them, with commas between the items.
 */
export type CaseArguments = { type: "case"; seed: number; kinds: string; at: string };
export type KillsArguments = {
  type: "kills";
  seed: number;
  kills: number;
  /** The fewest kills at random moments. */
  atRandom: number;
  /** Number of kills at each named place. */
  eachPlace: number;
  pairs: number;
  /** Number of services that run side by side. */
  lanes: number;
  /** Whether the figures are stored for the documents. */
  isRecorded: boolean;
};
export type FaultsArguments =
  | { type: "help" }
  | StorageArguments
  | ClientsArguments
  | SoakArguments
  | CaseArguments
  | KillsArguments;

/** Parses the command line. Throws `UsageError`, or Node's own error, for invalid arguments. */
export function parseFaultsArguments(argv: readonly string[]): FaultsArguments {
  const { values } = parseArgs({ args: argv.flatMap(withDefaultValue), options: OPTIONS });
  const seed = wholeNumber("seed", values.seed) ?? Date.now() % 1_000_000;
  if (values.help) return { type: "help" };
  if (values.soak !== undefined) return { type: "soak", seed, ...parseSoakArguments(values) };
  if (values.sessions !== undefined) throw new UsageError("--sessions goes with --soak.");
  if (values.storage !== undefined)
    return {
      type: "storage",
      seed,
      each: wholeNumber("storage", values.storage, 1) ?? 1,
      only: values.only ?? null,
    };
  if (values.clients !== undefined)
    return {
      type: "clients",
      seed,
      histories: wholeNumber("clients", values.clients) ?? 0,
      loudAgents: wholeNumber("agents", values.agents, 1) ?? LIMITS.agents,
      only: values.only ?? null,
    };
  if (values.at !== undefined)
    return { type: "case", seed, kinds: values.runs ?? "story", at: values.at };
  if (values.runs !== undefined)
    throw new UsageError("--runs goes with --at, which says where they are killed.");
  if (values.only !== undefined) throw new UsageError("--only goes with --storage or --clients.");
  return parseKills(seed, values);
}

function parseKills(seed: number, values: Values): KillsArguments {
  const counts = {
    kills: wholeNumber("kills", values.kills) ?? 100,
    atRandom: wholeNumber("at-random", values["at-random"]) ?? 0,
    eachPlace: wholeNumber("points", values.points) ?? 0,
    pairs: wholeNumber("pairs", values.pairs) ?? 0,
  };
  if (Object.values(counts).every((times) => times === 0))
    throw new UsageError("There is nothing to play: ask for a kill at least.");
  return {
    type: "kills",
    seed,
    ...counts,
    lanes: wholeNumber("lanes", values.lanes, 1) ?? 2,
    isRecorded: values.record ?? false,
  };
}

/** Values of options that the user typed without a number. */
const DEFAULTS: Readonly<Record<string, string>> = {
  "--points": "1",
  "--storage": "1",
  "--clients": "10",
};

/** The argument, followed by its default value if the next argument is no number. */
function withDefaultValue(arg: string, position: number, argv: readonly string[]): string[] {
  const defaultValue = DEFAULTS[arg];
  const isNumberNext = /^\d+$/.test(argv[position + 1] ?? "");
  return defaultValue !== undefined && !isNumberNext ? [arg, defaultValue] : [arg];
}
