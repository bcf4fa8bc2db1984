import {
  type RunRequest,
  type RunResponse,
  type TurnRequest,
  textOfQuestion,
} from "../../src/protocol/api";
import type { TurnView } from "../../src/protocol/view";
import { runLinks, sessionPath } from "../../src/protocol/paths";
import { beginningLines, endLines, IN_PROGRESS } from "../display/automation";
import { displayUnder, showsProgress } from "../display/choose-display";
import { cancelRun, latestTurn, startRun, startTurn, turnFacts } from "../service/session-calls";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { attachCommand } from "../invocation";
import type { Io } from "../io";
import { InterruptHandler } from "./interrupt-handler";
import { type OutputOptions, requireWritable, writeAnswer } from "./answer-output";
import { type RequestContext, warningLines } from "../service/problem";
import { exitCodeOf, printProblems, printRest, printSources } from "../display/report";
import { escapeJson } from "../terminal/sanitize";
import { finalText } from "../display/summary";
import { type TurnOutcome, watchTurn } from "./watch";

/** A new session, the next turn of a session, or an existing turn (default: the latest). */
export type AskTarget =
  | { run: RunRequest }
  | { next: { sessionId: string; body: TurnRequest } }
  | { attach: string; turn?: number };

export type AskOptions = { what: AskTarget; context: RequestContext; output: OutputOptions };

export type Place = { sessionId: string; turn: number };
/** `turn` is `null` if no event of the turn was received. */
export type AskResult = { place: Place; turn: TurnView | null; exitCode: ExitCode };

type RunIo = Pick<Io, "stdout" | "stderr" | "env" | "onInterrupt">;

/** Starts or finds a turn, watches it and prints its result. Throws CliError. */
export async function ask(options: AskOptions, io: RunIo): Promise<AskResult> {
  if (options.output.file !== null) await requireWritable(options.output.file);
  const place = await begin(options, io);
  if (options.output.form === "automation") announce(place, options, io);
  const { turn, end } = await follow(place, options, io);
  if (end === "detached" || !turn) return { place, turn, exitCode: EXIT.interrupted };
  await finish(turn, place, { options, io });
  return { place, turn, exitCode: exitCodeOf(turn) };
}

/**
 * Starts a turn, prints the session's id and does not wait for the result. Throws CliError.
 */
export async function askAndLeave(options: AskOptions, io: RunIo): Promise<ExitCode> {
  const started = await start(options, io);
  const { context, output } = options;
  if (output.form === "json" || output.form === "json-stream")
    io.stdout.write(`${escapeJson(JSON.stringify(started))}\n`);
  else if (output.form === "automation")
    announce({ sessionId: started.session_id, turn: started.turn }, options, io);
  else io.stdout.write(`${started.session_id}\n`);
  if (showsProgress(output, io))
    io.stderr.write(
      `The run continues. To watch it:\n  ${attachCommand(started.session_id, context.server)}\n`,
    );
  return EXIT.ok;
}

async function begin(options: AskOptions, io: RunIo): Promise<Place> {
  const { what, context } = options;
  if (!("attach" in what)) {
    const started = await start(options, io);
    return { sessionId: started.session_id, turn: started.turn };
  }
  const { attach: sessionId, turn } = what;
  return {
    sessionId,
    turn: turn ?? (await interruptibly(io, (signal) => latestTurn(sessionId, context, signal))),
  };
}

async function start({ what, context }: AskOptions, io: RunIo): Promise<RunResponse> {
  if ("attach" in what) throw new CliError(EXIT.config, "An existing session cannot be started.");
  const started = await interruptibly(io, (signal) =>
    "run" in what ? startRun(what.run, context, signal) : startTurn(what.next, context, signal),
  );
  for (const line of warningLines(started.warnings ?? [])) io.stderr.write(`${line}\n`);
  return started;
}

async function interruptibly<T>(
  io: Pick<Io, "onInterrupt">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const starting = new AbortController();
  const interrupted = new CliError(
    EXIT.interrupted,
    "Interrupted before the service answered; a run may have begun.",
  );
  const release = io.onInterrupt(() => starting.abort(interrupted));
  try {
    return await work(starting.signal);
  } finally {
    release();
  }
}

async function follow(
  { sessionId, turn }: Place,
  { context, output }: AskOptions,
  io: RunIo,
): Promise<TurnOutcome> {
  const display = displayUnder(output, io);
  const watching = new AbortController();
  const leave = new InterruptHandler({
    notices: io.stderr,
    attachWith: attachCommand(sessionId, context.server),
    stopDrawing: () => display.close(),
    detach: () => watching.abort(),
    cancel: async () => void (await cancelRun(sessionId, context, watching.signal)),
  });
  const release = io.onInterrupt(leave.pressed);
  try {
    return await watchTurn({ ...context, sessionId, turn, display, signal: watching.signal });
  } finally {
    release();
    leave.done();
  }
}

const urlOf = (sessionId: string, { server }: RequestContext): string =>
  new URL(sessionPath(sessionId), server).href;

function announce(
  { sessionId }: Place,
  { what, context }: AskOptions,
  io: Pick<Io, "stdout">,
): void {
  const question =
    "run" in what
      ? textOfQuestion(what.run.question)
      : "next" in what
        ? textOfQuestion(what.next.body.question)
        : null;
  const lines = [
    ...beginningLines({ sessionId, statusUrl: urlOf(sessionId, context), question }),
    IN_PROGRESS,
  ];
  io.stdout.write(`${lines.join("\n")}\n`);
}

/** Prints the result of the turn in the requested form. */
async function finish(
  turn: TurnView,
  place: Place,
  { options, io }: { options: AskOptions; io: RunIo },
): Promise<void> {
  const { output, context } = options;
  if (turn.final && output.file !== null) await writeAnswer(output.file, finalText(turn));
  const shown = showsProgress(output, io);
  if (shown && io.stderr.isTTY) io.stderr.write("\n");
  await printResult(turn, place, { options, io });
  if (!shown) return printProblems(turn, io);
  if (turn.final && output.form === "answer") printSources(turn, io);
  if (turn.final && output.file !== null) io.stderr.write(`answer  ${output.file}\n`);
  printRest(turn, urlOf(place.sessionId, context), io);
}

async function printResult(
  turn: TurnView,
  place: Place,
  { options, io }: { options: AskOptions; io: RunIo },
): Promise<void> {
  const { output, context } = options;
  switch (output.form) {
    case "answer":
      if (turn.final && output.file === null) io.stdout.write(`${finalText(turn)}\n`);
      return;
    case "json":
      io.stdout.write(
        `${escapeJson((await turnFacts(place.sessionId, place.turn, context)).raw.trim())}\n`,
      );
      return;
    case "automation": {
      const url = new URL(runLinks(place.sessionId, place.turn).turn, context.server).href;
      io.stdout.write(
        `${endLines(turn, output.file === null ? { url } : { file: output.file }).join("\n")}\n`,
      );
      return;
    }
    case "json-stream":
      return;
  }
}
