import type { TurnView } from "../../src/protocol/view";
import { sessionPath } from "../../src/protocol/paths";
import { EXIT, type ExitCode } from "../exit-codes";
import type { Io } from "../io";
import type { RequestContext } from "../service/problem";
import { type Line, paint, wantsColor } from "../terminal/output";
import {
  failureLines,
  finalText,
  partialText,
  sourceLines,
  summaryLines,
  warningLines,
} from "./summary";

type Sinks = Pick<Io, "stdout" | "stderr" | "env">;
export type ReportTarget = { options: { context: RequestContext; jsonStream: boolean }; io: Sinks };

/** Prints the final answer on stdout. Sources and all other facts are printed on stderr. */
export function report(
  turn: TurnView,
  place: { sessionId: string },
  { options, io }: ReportTarget,
): void {
  if (io.stderr.isTTY) io.stderr.write("\n");
  if (turn.final && !options.jsonStream) {
    io.stdout.write(`${finalText(turn)}\n`);
    printSources(turn, io);
  }
  printRest(turn, new URL(sessionPath(place.sessionId), options.context.server).href, io);
}

/** Prints the sources of the final answer. */
export function printSources(turn: TurnView, io: Sinks): void {
  const sources = sourceLines(turn);
  if (sources.length > 0 && io.stderr.isTTY) io.stderr.write("\n");
  printLines(sources, io);
}

/**
 * Prints the partial answer of a cancelled turn, votes, winner, tokens, cost and the address, and
 * then these further lines.
 */
export function printRest(turn: TurnView, url: string, io: Sinks, more: Line[] = []): void {
  const partial = partialText(turn);
  if (partial) io.stderr.write(`Partial answer:\n${partial}\n`);
  if (io.stderr.isTTY) io.stderr.write("\n");
  printLines([...summaryLines(turn, url), ...more], io);
}

/**
 * Prints why there is no answer, and which agents did not take part. A run without a display prints
 * nothing else on stderr.
 */
export function printProblems(turn: TurnView, io: Sinks): void {
  const partial = partialText(turn);
  if (partial) io.stderr.write(`Partial answer:\n${partial}\n`);
  printLines([...failureLines(turn), ...warningLines(turn)], io);
}

function printLines(lines: Line[], { stderr, env }: Sinks): void {
  const style = { width: Number.POSITIVE_INFINITY, color: wantsColor(stderr, env) };
  for (const line of lines) stderr.write(`${paint(line, style)}\n`);
}

/**
 * The exit code of a turn. A turn with an answer is a success, even if the coordination ended at
 * its time limit.
 */
export function exitCodeOf({ status, failure, attempts }: TurnView): ExitCode {
  if (status === "completed") return EXIT.ok;
  if (status === "cancelled") return EXIT.interrupted;
  const hasLateAgent = failure?.agents.some(({ code }) => code === "deadline") ?? false;
  const isOutOfTime = hasLateAgent || attempts.at(-1)?.settlement?.endedBy === "deadline";
  return isOutOfTime ? EXIT.timeout : EXIT.execution;
}
