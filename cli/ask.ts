import { type RunRequest, sessionPath } from "../src/protocol/api";
import type { TurnView } from "../src/protocol/view";
import { cancelRun, latestTurn, startRun } from "./client";
import type { TurnDisplay } from "./display";
import { CliError, EXIT, type ExitCode } from "./exit-codes";
import { jsonDisplay } from "./json-display";
import { Leave } from "./leave";
import { liveDisplay } from "./live-display";
import { type Line, paint } from "./paint";
import { plainDisplay } from "./plain-display";
import { type RequestContext, warningLines } from "./problem";
import { finalText, partialText, sourceLines, summaryLines } from "./summary";
import { attachCommand } from "./tail";
import { canRedraw, type Output, wantsColor } from "./terminal";
import { type TurnOutcome, watchTurn } from "./watch";

/** What the command touches besides the network. */
export type Io = {
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Calls back on each Ctrl+C until the returned function is called. */
  onInterrupt: (listener: () => void) => () => void;
};

export type AskOptions = {
  /** A new run, or the session whose latest turn is watched. */
  what: { run: RunRequest } | { attach: string };
  context: RequestContext;
  jsonStream: boolean;
};

type Place = { sessionId: string; turn: number };

/** Starts or finds a run, watches it and prints its answer. Throws CliError. */
export async function ask(options: AskOptions, io: Io): Promise<ExitCode> {
  const place = await begin(options, io);
  const { turn, end } = await follow(place, options, io);
  if (end === "detached" || !turn) return EXIT.interrupted;
  report(turn, place, { options, io });
  return exitCodeOf(turn);
}

async function begin({ what, context }: AskOptions, io: Io): Promise<Place> {
  const starting = new AbortController();
  const interrupted = new CliError(EXIT.interrupted, "Interrupted before the service answered; a run may have begun.");
  const release = io.onInterrupt(() => starting.abort(interrupted));
  try {
    if ("attach" in what) {
      return { sessionId: what.attach, turn: await latestTurn(what.attach, context, starting.signal) };
    }
    const { session_id: sessionId, turn, warnings = [] } = await startRun(what.run, context, starting.signal);
    for (const line of warningLines(warnings)) io.stderr.write(`${line}\n`);
    return { sessionId, turn };
  } finally {
    release();
  }
}

async function follow({ sessionId, turn }: Place, { context, jsonStream }: AskOptions, io: Io): Promise<TurnOutcome> {
  const display = displayFor(jsonStream, io);
  const watching = new AbortController();
  const leave = new Leave({
    notices: io.stderr,
    attachWith: attachCommand(sessionId, context.server),
    stopDrawing: () => display.close(),
    detach: () => watching.abort(),
    cancel: () => cancelRun(sessionId, context, watching.signal),
  });
  const release = io.onInterrupt(leave.pressed);
  try {
    return await watchTurn({ server: context.server, sessionId, turn, display, signal: watching.signal });
  } finally {
    release();
    leave.done();
  }
}

/** The way to show a turn that fits where it is shown. */
export function displayFor(jsonStream: boolean, { stdout, stderr, env }: Pick<Io, "stdout" | "stderr" | "env">): TurnDisplay {
  if (jsonStream) return jsonDisplay(stdout, stderr);
  return canRedraw(stderr, env) ? liveDisplay(stderr, { env }) : plainDisplay(stderr);
}

type ReportTo = { options: Pick<AskOptions, "context" | "jsonStream">; io: Pick<Io, "stdout" | "stderr" | "env"> };

/** The final answer on stdout, everything else about the turn, its sources first, on stderr. */
export function report(turn: TurnView, { sessionId }: Pick<Place, "sessionId">, { options, io }: ReportTo): void {
  const { stdout, stderr, env } = io;
  if (stderr.isTTY) stderr.write("\n");
  const print = (line: Line) =>
    stderr.write(`${paint(line, { width: Number.POSITIVE_INFINITY, color: wantsColor(stderr, env) })}\n`);
  if (turn.final && !options.jsonStream) {
    stdout.write(`${finalText(turn)}\n`);
    const sources = sourceLines(turn);
    if (sources.length > 0 && stderr.isTTY) stderr.write("\n");
    for (const line of sources) print(line);
  }
  const partial = partialText(turn);
  if (partial) stderr.write(`What there is so far:\n${partial}\n`);
  if (stderr.isTTY) stderr.write("\n");
  const url = new URL(sessionPath(sessionId), options.context.server).href;
  for (const line of summaryLines(turn, url)) print(line);
}

/** An answer is a success, however the coordination ended. */
export function exitCodeOf({ status, failure, attempts }: TurnView): ExitCode {
  if (status === "completed") return EXIT.ok;
  if (status === "cancelled") return EXIT.interrupted;
  const lateAgent = failure?.agents.some(({ code }) => code === "deadline") ?? false;
  const outOfTime = lateAgent || attempts.at(-1)?.settlement?.endedBy === "deadline";
  return outOfTime ? EXIT.timeout : EXIT.execution;
}
