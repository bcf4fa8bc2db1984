import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { connect, type ConnectionFlags } from "../credentials/connection";
import { formatCost, formatDuration } from "../../src/describe/figures";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import {
  type Counts,
  listSuites,
  readRun,
  type Run,
  startSuite,
  type Suites,
} from "../service/evals";
import type { RequestContext } from "../service/problem";
import type { Answer } from "../service/call-service";
import { escapeJson, toLine } from "../terminal/sanitize";
import { formatTime, printTable } from "../terminal/output";
import { type Register, withConnection } from "./flags";

type Flags = ConnectionFlags & { json?: true };

/** `eval list` and `eval run`. */
export const registerEval: Register = (program, { io, end }) => {
  const command = new Command("eval").description("evaluation suites: list them, run one");
  command.addCommand(
    withConnection(new Command("list"))
      .description("list the suites")
      .option("--json", "print the response as JSON")
      .action(async (flags: Flags) => {
        const { data, raw } = await listSuites(await connect(flags, io));
        if (flags.json) printJson(raw, io);
        else printSuites(data, io);
        end(EXIT.ok);
      }),
  );
  command.addCommand(
    withConnection(new Command("run"))
      .description("run a suite and wait for its results; ends with 2 if a case has no answer")
      .argument("<suite>", "its name")
      .option("--strict", "end with 2 unless every case passed")
      .option("--json", "print the response as JSON")
      .action(async (suite: string, flags: Flags & { strict?: true }) => {
        const { data, raw } = await runSuite(suite, await connect(flags, io), io);
        if (flags.json) printJson(raw, io);
        else printRun(suite, data, io);
        end(isSuccess(data, flags.strict === true) ? EXIT.ok : EXIT.execution);
      }),
  );
  program.addCommand(command);
};

const printJson = (raw: string, { stdout }: Pick<Io, "stdout">): void =>
  void stdout.write(`${escapeJson(raw.trim())}\n`);

/** Interval of status requests. */
const POLL_MS = 1_000;
/** Longest time until the service must know a run that it has accepted. */
const MAX_UNKNOWN_MS = 60_000;

/** Starts a suite and waits for its run. Ctrl+C does not stop the run. Throws CliError. */
export async function runSuite(
  suite: string,
  context: RequestContext,
  { stderr, onInterrupt }: Pick<Io, "stderr" | "onInterrupt">,
): Promise<Answer<Run>> {
  const waiting = new AbortController();
  let id: string | null = null;
  const release = onInterrupt(() => waiting.abort(interruption(suite, id)));
  try {
    id = await startSuite(suite, crypto.randomUUID(), context, waiting.signal);
    return await waitForEnd({ suite, id }, context, { stderr, signal: waiting.signal });
  } catch (error) {
    throw waiting.signal.aborted ? waiting.signal.reason : error;
  } finally {
    release();
  }
}

const interruption = (suite: string, id: string | null): CliError =>
  new CliError(
    EXIT.interrupted,
    id ? `${suite} continues as ${id}.` : `Interrupted; a run of ${suite} may have begun.`,
  );

type WaitOptions = { stderr: Io["stderr"]; signal: AbortSignal };

async function waitForEnd(
  run: { suite: string; id: string },
  context: RequestContext,
  { stderr, signal }: WaitOptions,
): Promise<Answer<Run>> {
  const startedAt = Date.now();
  let printedProgress = "";
  for (;;) {
    const answer = await readRun(run, context, signal);
    if (answer?.data.status === "completed") return answer;
    if (!answer && Date.now() - startedAt > MAX_UNKNOWN_MS) {
      throw new CliError(
        EXIT.execution,
        `The service accepted the run ${run.id} but does not show it.`,
      );
    }
    const progressText = answer ? progress(answer.data) : "";
    if (progressText !== printedProgress && stderr.isTTY === true)
      stderr.write(`${progressText}\n`);
    printedProgress = progressText;
    await sleep(POLL_MS, undefined, { signal });
  }
}

const progress = ({ cases, passed, failed, errored }: Counts): string =>
  `${passed + failed + errored} of ${cases} done`;

/** Prints one line per case on stdout, and the totals on stderr. */
export function printRun(
  suite: string,
  run: Run,
  { stdout, stderr }: Pick<Io, "stdout" | "stderr">,
): void {
  const rows = run.results.map((result) => [
    result.case,
    result.outcome,
    formatCost(result.cost_usd, result.cost_usd_known),
    formatDuration(result.duration_ms),
    result.session_id,
    result.detail,
  ]);
  printTable(["case", "result", "cost", "time", "session", "why"], rows, stdout);
  stderr.write(`${toLine(suite)} ${toLine(run.id)}: ${totalsOf(run)}\n`);
}

/** Returns the totals of a run, such as `2 of 3 passed, 1 failed, $0.0213, 00:59`. */
export function totalsOf({
  cases,
  passed,
  failed,
  errored,
  cost_usd,
  cost_usd_known,
  started_at,
  ended_at,
}: Counts): string {
  const parts = [
    `${passed} of ${cases} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(errored > 0 ? [`${errored} without an answer`] : []),
    formatCost(cost_usd, cost_usd_known),
    ...(ended_at === null ? ["still running"] : [formatDuration((ended_at - started_at) * 1000)]),
  ];
  return parts.join(", ");
}

export function printSuites(
  { data }: Suites,
  { stdout, stderr }: Pick<Io, "stdout" | "stderr">,
): void {
  if (data.length === 0) stderr.write("This service has no evaluation suites.\n");
  const rows = data.map(({ name, cases, cron, last_run, description }) => [
    name,
    String(cases),
    cron ?? "by hand",
    last_run ? `${formatTime(last_run.started_at * 1000)}: ${totalsOf(last_run)}` : "never",
    description,
  ]);
  if (rows.length > 0)
    printTable(["suite", "cases", "runs (UTC)", "last run", "what"], rows, stdout);
}

/**
 * Whether the run is a success: every case has an answer, even if it failed. So a suite that runs
 * without provider keys does not look like a success. With `strict`, every case must pass.
 */
export const isSuccess = ({ cases, passed, failed }: Counts, strict: boolean): boolean =>
  strict ? passed === cases : passed + failed === cases;
