import { type RunRequest, textOfQuestion } from "../../src/protocol/api";
import type { QueuedResponse } from "../../src/protocol/api/queue";
import type { TurnView } from "../../src/protocol/view";
import { runLinks, sessionPath } from "../../src/protocol/paths";
import { beginningLines, endLines, type FileAddresses, IN_PROGRESS } from "../display/automation";
import { displayForOptions, showsProgress } from "../display/choose-display";
import { cancelRun, startRun, startTurn, turnFacts, turnToWatch } from "../service/session-calls";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { rememberSession } from "../credentials/last-session";
import { hasChanges, listIfPossible } from "../files/result-files";
import { filesLines, withAddresses } from "../files/show-files";
import { attachCommand, commandAt } from "../invocation";
import type { Io } from "../io";
import {
  conflictHints,
  explainedError,
  isRefusedByConflicts,
  type NextTurn,
  type Repetition,
} from "./ask-again";
import { InterruptHandler } from "./interrupt-handler";
import { type OutputOptions, requireWritable, writeAnswer } from "./answer-output";
import { type RequestContext, warningLines } from "../service/problem";
import { exitCodeOf, printProblems, printRest, printSources } from "../display/report";
import { awaitQueued, REMOVED } from "../queue/await-queued";
import { type FileList, QueueFactsSchema, type StartAnswer } from "../service/schema";
import type { TurnDisplay } from "../display/turn-lines";
import type { Line } from "../terminal/output";
import { escapeJson } from "../terminal/sanitize";
import { finalText } from "../display/summary";
import type { Typing } from "./typing";
import { type TurnOutcome, watchTurn } from "./watch";

/** A new session, the next turn of a session, or an existing turn (default: the latest). */
export type AskTarget =
  | { run: RunRequest }
  | { next: NextTurn }
  | { attach: string; turn?: number };

/** `repetition`: how the question can be asked again after a refusal. */
export type AskOptions = {
  target: AskTarget;
  context: RequestContext;
  output: OutputOptions;
  repetition?: Repetition;
  /** What the user types while the turn runs. Omitted: the user cannot type. */
  typing?: Typing;
  /** Called once the service has accepted the question. */
  onAccepted?: () => void;
};

/** One turn of a session. Turns are numbered from 1. */
export type Place = { sessionId: string; turn: number };
/** The result of a followed turn. `turn` is `null` if no event of the turn was received. */
export type AskResult = { place: Place; turn: TurnView | null; exitCode: ExitCode };

type RunIo = Pick<Io, "stdout" | "stderr" | "env" | "onInterrupt" | "cwd" | "home">;

/** Starts or finds a turn, follows it to its end and prints its result. Throws CliError. */
export async function ask(options: AskOptions, io: RunIo): Promise<AskResult> {
  if (options.output.file !== null) await requireWritable(options.output.file);
  const place = await startOrFind(options, io);
  await rememberSession(options.context.server, place.sessionId, io);
  if (options.output.form === "automation") announce(place, options, io);
  const { turn, end } = await followTurn(place, options, io);
  if (end === "detached" || !turn) return { place, turn, exitCode: EXIT.interrupted };
  await printEnd(turn, place, { options, io });
  const { target, context, repetition = {} } = options;
  if ("next" in target && isRefusedByConflicts(turn))
    for (const line of conflictHints(target.next, { context, repetition }))
      io.stderr.write(`${line}\n`);
  return { place, turn, exitCode: exitCodeOf(turn) };
}

/**
 * Starts a turn, or queues it, prints the session's id and returns without the result. `turn`:
 * `null` for a queued turn. Throws CliError.
 */
export async function askDetached(
  options: AskOptions,
  io: RunIo,
): Promise<{ place: { sessionId: string; turn: number | null }; exitCode: ExitCode }> {
  const started = await start(options, io);
  const { context, output } = options;
  const sessionId = started.session_id;
  await rememberSession(context.server, sessionId, io);
  if (output.form === "json" || output.form === "json-stream")
    io.stdout.write(`${escapeJson(JSON.stringify(started))}\n`);
  else if (output.form === "automation") announce({ sessionId }, options, io);
  else io.stdout.write(`${sessionId}\n`);
  if (showsProgress(output, io))
    io.stderr.write(
      "queued" in started
        ? `The question waits in the queue at position ${started.queued.position}. To see it:\n  ${commandAt(context, "queue", sessionId)}\n`
        : `The run continues. To watch it:\n  ${attachCommand(sessionId, context)}\n`,
    );
  const turn = "queued" in started ? null : started.turn;
  return { place: { sessionId, turn }, exitCode: EXIT.ok };
}

async function startOrFind(options: AskOptions, io: RunIo): Promise<Place> {
  const { target, context } = options;
  if (!("attach" in target)) {
    const started = await start(options, io);
    const sessionId = started.session_id;
    const turn = "queued" in started ? await awaitStart(started, options, io) : started.turn;
    return { sessionId, turn };
  }
  const { attach: sessionId, turn } = target;
  return {
    sessionId,
    turn:
      turn ??
      (await runInterruptibly(io, INTERRUPTED, (signal) =>
        turnToWatch(sessionId, context, signal),
      )),
  };
}

/** Waits for the turn of a queued question. Ctrl+C stops waiting; the question stays queued. */
async function awaitStart(
  { session_id: session, queued: { id } }: QueuedResponse,
  { context, output, repetition }: AskOptions,
  io: RunIo,
): Promise<number> {
  const notice = (text: string): void => {
    if (showsProgress(output, io)) io.stderr.write(`${text}\n`);
  };
  const isConversation = repetition?.slash !== undefined;
  const stopped = `Stopped waiting: the question stays in the queue. To see it:\n  ${commandAt(context, "queue", session)}`;
  const turn = await runInterruptibly(io, stopped, (signal) =>
    awaitQueued({ session, id }, { context, notice, isConversation, signal }),
  );
  if (turn !== null) return turn;
  throw new CliError(EXIT.interrupted, REMOVED);
}

async function start(options: AskOptions, io: RunIo): Promise<StartAnswer> {
  const { target, context, repetition = {}, onAccepted } = options;
  if ("attach" in target) throw new CliError(EXIT.config, "An existing session cannot be started.");
  const started = await runInterruptibly(io, INTERRUPTED, (signal) =>
    "run" in target
      ? startRun(target.run, context, signal)
      : startTurn(target.next, context, signal),
  ).catch(async (error: unknown) => {
    throw "next" in target
      ? await explainedError(error, target.next, { context, repetition })
      : error;
  });
  onAccepted?.();
  for (const line of warningLines(started.warnings ?? [])) io.stderr.write(`${line}\n`);
  return started;
}

const INTERRUPTED = "Interrupted before the service answered; a run may have begun.";

/** Runs `work`. Ctrl+C aborts its signal; `message` is the message of the error then. */
async function runInterruptibly<T>(
  io: Pick<Io, "onInterrupt">,
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const interrupted = new CliError(EXIT.interrupted, message);
  const release = io.onInterrupt(() => controller.abort(interrupted));
  try {
    return await work(controller.signal);
  } finally {
    release();
  }
}

async function followTurn(
  { sessionId, turn }: Place,
  { context, output, typing }: AskOptions,
  io: RunIo,
): Promise<TurnOutcome> {
  const display = displayForOptions(output, io);
  const onQueue = (queue: unknown): void => noteQueue(queue, typing);
  const following = new AbortController();
  const interrupts = new InterruptHandler({
    notices: io.stderr,
    commandToAttach: attachCommand(sessionId, context),
    stopDrawing: () => display.close(),
    detach: () => following.abort(),
    cancel: async () => void (await cancelRun(sessionId, context, following.signal)),
  });
  const release = io.onInterrupt(interrupts.onPress);
  const { signal } = following;
  const stopTyping = typing && beginTyping(typing, { sessionId, display, interrupts });
  try {
    return await watchTurn({ ...context, sessionId, turn, display, signal, onQueue });
  } finally {
    stopTyping?.();
    release();
    interrupts.dispose();
  }
}

/** Lets the user type, if the display can show it. Returns the function that ends it. */
function beginTyping(
  typing: Typing,
  { sessionId: session, display, interrupts }: RunningTurn,
): (() => void) | null {
  if (!display.showBelow) return null;
  let redraw = (): void => undefined;
  return typing.begin({
    session,
    showBelow: (lines) => {
      redraw = display.showBelow?.(lines) ?? redraw;
    },
    redraw: () => redraw(),
    notice: (text) => display.notice(text),
    onInterrupt: interrupts.onPress,
  });
}
type RunningTurn = { sessionId: string; display: TurnDisplay; interrupts: InterruptHandler };

function noteQueue(queue: unknown, typing: Typing | undefined): void {
  const { data } = QueueFactsSchema.safeParse(queue);
  if (data) typing?.onQueue(data);
}

const urlOf = (sessionId: string, { server }: RequestContext): string =>
  new URL(sessionPath(sessionId), server).href;

function announce(
  { sessionId }: Pick<Place, "sessionId">,
  { target, context }: AskOptions,
  io: Pick<Io, "stdout">,
): void {
  const question =
    "run" in target
      ? target.run.question
      : "next" in target
        ? target.next.body.question
        : undefined;
  const lines = [
    ...beginningLines({
      ...{ sessionId, statusUrl: urlOf(sessionId, context) },
      question: question === undefined ? null : textOfQuestion(question),
    }),
    IN_PROGRESS,
  ];
  io.stdout.write(`${lines.join("\n")}\n`);
}

/** Prints the result of the turn in the requested form. */
async function printEnd(
  turn: TurnView,
  place: Place,
  { options, io }: { options: AskOptions; io: RunIo },
): Promise<void> {
  const { output, context } = options;
  if (turn.final && output.file !== null) await writeAnswer(output.file, finalText(turn));
  const shown = showsProgress(output, io);
  const isAtTerminal = output.form === "answer" && io.stdout.isTTY === true;
  const files = turn.final && (shown || isAtTerminal) ? await filesOf(place, context) : null;
  if (shown && io.stderr.isTTY) io.stderr.write("\n");
  await printResult(turn, place, { options, io, files: isAtTerminal ? files : null });
  if (!shown) return printProblems(turn, io);
  if (turn.final && output.form === "answer") printSources(turn, io);
  if (turn.final && output.file !== null) io.stderr.write(`answer  ${output.file}\n`);
  printRest(
    turn,
    urlOf(place.sessionId, context),
    io,
    files ? endOfRunLines(files, options, io) : [],
  );
}

const filesOf = ({ sessionId: session, turn }: Place, context: RequestContext) =>
  listIfPossible({ session, turn }, context);

/** The addresses of the turn's files and changes. `url`: the address of the turn. */
async function addressesOf(
  place: Place,
  url: string,
  context: RequestContext,
): Promise<FileAddresses> {
  const [list, isChanged] = await Promise.all([
    filesOf(place, context),
    hasChanges({ session: place.sessionId, turn: place.turn }, context),
  ]);
  return {
    files: list && list.data.length > 0 ? `${url}/files` : null,
    changes: isChanged ? `${url}/changes` : null,
  };
}

/** The names of the turn's files, and the command that saves them. */
function endOfRunLines(
  files: FileList,
  { target, context }: AskOptions,
  { stderr }: Pick<Io, "stderr">,
): Line[] {
  const turn = "attach" in target && target.turn !== undefined ? [String(target.turn)] : [];
  const command = commandAt(context, "files", "last", ...turn, "--save", "out");
  return filesLines(files, { command, width: stderr.columns || Number.POSITIVE_INFINITY });
}

/** `files`: the files whose paths in the answer become addresses; `null` keeps the stored text. */
function answerText(
  turn: TurnView,
  { sessionId: session, turn: number }: Place,
  { files, context }: { files: FileList | null; context: RequestContext },
): string {
  const text = finalText(turn);
  if (files === null) return text;
  return withAddresses(text, files, { place: { session, turn: number }, server: context.server });
}

async function printResult(
  turn: TurnView,
  place: Place,
  { options, io, files }: { options: AskOptions; io: RunIo; files: FileList | null },
): Promise<void> {
  const { output, context } = options;
  switch (output.form) {
    case "answer":
      if (turn.final && output.file === null)
        io.stdout.write(`${answerText(turn, place, { files, context })}\n`);
      return;
    case "json":
      io.stdout.write(
        `${escapeJson((await turnFacts(place.sessionId, place.turn, context)).raw.trim())}\n`,
      );
      return;
    case "automation": {
      const url = new URL(runLinks(place.sessionId, place.turn).turn, context.server).href;
      const answerAt = output.file === null ? { url } : { file: output.file };
      const addresses = turn.final ? await addressesOf(place, url, context) : undefined;
      io.stdout.write(`${endLines(turn, answerAt, addresses).join("\n")}\n`);
      return;
    }
    case "json-stream":
      return;
  }
}
