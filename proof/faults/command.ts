import path from "node:path";
import { playClients } from "./clients/campaign";
import { toClientReport } from "./clients/report";
import type {
  CaseArguments,
  ClientsArguments,
  FaultsArguments,
  KillsArguments,
  SoakArguments,
  StorageArguments,
} from "./arguments";
import { playKillCampaign, type Figures, replay } from "./kills/campaign";
import type { Outcome } from "./kills/case";
import { parseCase } from "./kills/case-arguments";
import { isSound, percentile, toReport } from "./kills/report";
import { recordFigures } from "../record-figures";
import { EVIDENCE } from "./runs/evidence";
import { playSoak } from "./soak/campaign";
import { shortcomings } from "./soak/figures";
import { RowFile } from "./soak/soak-rows";
import { toRestLine, toSampleLine, toSoakReport } from "./soak/report";
import { playStorageFaults } from "./storage-faults/campaign";
import { toStorageFaultReport } from "./storage-faults/report";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Plays the campaign that the arguments select, prints its figures, and returns the exit code.
 * Throws `UsageError` for unknown names.
 */
export async function play(args: Exclude<FaultsArguments, { type: "help" }>): Promise<number> {
  // The services are stopped when the process exits, so an interrupt must end in a regular exit.
  for (const signal of SIGNALS) process.on(signal, () => process.exit(1));
  switch (args.type) {
    case "soak":
      return runSoak(args);
    case "storage":
      return runStorageFaults(args);
    case "clients":
      return runClients(args);
    case "case":
      return runCase(args);
    case "kills":
      return runKills(args);
    default:
      return args satisfies never;
  }
}

async function runKills(args: KillsArguments): Promise<number> {
  const figures = await playKillCampaign({ ...args, onCase: printOutcome });
  process.stdout.write(toReport(figures));
  if (args.isRecorded)
    await recordFigures("campaigns", { kills: { data: recordedKills(figures) } });
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

async function runStorageFaults({ seed, each, only }: StorageArguments): Promise<number> {
  const figures = await playStorageFaults({
    seed,
    each,
    ...(only === null ? {} : { only }),
    onFault: ({ fault, problems }) =>
      process.stderr.write(`${problems.length === 0 ? "✓" : "✗"} ${fault.name}\n`),
  });
  process.stdout.write(toStorageFaultReport(figures));
  return figures.failures.length > 0 ? 1 : 0;
}

async function runClients({
  seed,
  histories,
  loudAgents,
  only,
}: ClientsArguments): Promise<number> {
  const figures = await playClients({
    seed,
    histories,
    loudAgents,
    ...(only === null ? {} : { only }),
    onScene: ({ name, problems }) =>
      process.stderr.write(`${problems.length === 0 ? "✓" : "✗"} ${name}\n`),
  });
  process.stdout.write(toClientReport(figures));
  return figures.scenes.some(({ problems }) => problems.length > 0) ? 1 : 0;
}

async function runSoak({ seed, minutes, sessions }: SoakArguments): Promise<number> {
  const interrupted = new AbortController();
  const rows = await RowFile.create(path.join(EVIDENCE, `soak-${seed}.csv`));
  process.stderr.write(`The figures of each minute are in ${rows.name}\n`);
  const figures = await playSoak({
    seed,
    minutes,
    sessions,
    interrupted: interrupted.signal,
    onStarted: () => interruptOnSignal(interrupted),
    onSample: (sample) => process.stderr.write(`${toSampleLine(sample)}\n`),
    onRow: (row) =>
      void rows
        .add(row)
        .catch((error: unknown) => process.stderr.write(`A row was not written: ${error}\n`)),
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
 * The first Ctrl-C interrupts the soak, which then waits for its active sessions. A second Ctrl-C
 * exits at once. Removes other listeners: the runtime's listener would exit immediately, and the
 * runtime cleans up at any exit.
 */
function interruptOnSignal(interrupted: AbortController): void {
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

async function runCase({ seed, kinds, at }: CaseArguments): Promise<number> {
  const figures = await replay({ seed, ...parseCase(kinds, at) }, printOutcome);
  process.stdout.write(toReport(figures));
  return isSound(figures) ? 0 : 1;
}

function printOutcome({ plan, killed, missed, problems }: Outcome): void {
  const places = killed.map(({ where }) => where).join(", ");
  const missedNote = missed.length === 0 ? "" : `; not reached: ${missed.join(", ")}`;
  process.stderr.write(
    `${problems.length === 0 ? "✓" : "✗"} ${plan.seed} ${plan.kinds.join("+")}: ${places}${missedNote}\n`,
  );
}
