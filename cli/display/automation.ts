import { participantsOfTurn } from "../../src/protocol/view/participation";
import type { TurnView } from "../../src/protocol/view";
import { costWords, plural } from "../../src/describe/figures";
import { winnerVotes } from "../../src/describe/votes";
import { failureReasons, warningsOf } from "../../src/describe/warnings";
import type { TurnDisplay } from "./turn-lines";
import { toLine } from "../terminal/sanitize";
import { finalText } from "./summary";
import type { Output } from "../terminal/output";

/**
 * The output of MassGen's `--automation`: a few lines of `KEY: value` on stdout. MassGen prints its
 * log folder and its status file. The service has no folder on this machine, so this program prints
 * the session and the address of its status instead.
 */

/** The first lines: the data that a program needs to follow the run. */
export const beginningLines = ({
  sessionId,
  statusUrl,
  question,
}: {
  sessionId: string;
  statusUrl: string;
  question: string | null;
}): string[] => [
  `SESSION: ${sessionId}`,
  `STATUS_URL: ${statusUrl}`,
  ...(question === null ? [] : [`QUESTION: ${toLine(question)}`]),
];

export const IN_PROGRESS = "[Coordination in progress - ask STATUS_URL for real-time updates]";

const PREVIEW_CHARS = 200;

/** Addresses of the files of a result. `null`: there are none. */
export type FileAddresses = { files: string | null; changes: string | null };

/** The last lines: the result. `answerAt` is the file or the address of the complete answer. */
export function endLines(
  turn: TurnView,
  answerAt: { file: string } | { url: string },
  { files, changes }: FileAddresses = { files: null, changes: null },
): string[] {
  const duration = `${(((turn.endedAt ?? turn.startedAt) - turn.startedAt) / 1000).toFixed(1)}s`;
  const answer = finalText(turn);
  const preview = toLine(answer);
  const answerLine =
    "file" in answerAt ? `ANSWER_FILE: ${answerAt.file}` : `ANSWER_URL: ${answerAt.url}`;
  return [
    "",
    ...winnerLines(turn),
    ...warningsOf(turn).map((text) => `WARNING: ${toLine(text)}`),
    ...(answer === "" ? [] : [answerLine]),
    ...(files === null ? [] : [`FILES_URL: ${files}`]),
    ...(changes === null ? [] : [`CHANGES_URL: ${changes}`]),
    `DURATION: ${duration}`,
    `COST: ${costWords(turn)}`,
    ...(answer === ""
      ? []
      : [
          `ANSWER_PREVIEW: ${preview.length > PREVIEW_CHARS ? `${preview.slice(0, PREVIEW_CHARS).toWellFormed()}...` : preview}`,
        ]),
    ...errorLines(turn),
    "",
    `${turn.status === "completed" ? "COMPLETED" : turn.status.toUpperCase()}: ${participation(turn)}, ${duration} total`,
  ];
}

/** Why there is no answer: the turn's error, then the reason of each agent. */
function errorLines(turn: TurnView): string[] {
  if (turn.status === "cancelled") return ["ERROR: cancelled"];
  if (!turn.failure) return [];
  const reasons = failureReasons(turn).map(({ agent, reason }) => `${agent}: ${reason}`);
  return [turn.failure.message, ...reasons].map((text) => `ERROR: ${toLine(text)}`);
}

/** The winner of a completed turn, or the leading agent of a cancelled turn. */
function winnerLines(turn: TurnView): string[] {
  if (turn.winner === null || turn.failure) return [];
  if (turn.status !== "completed") return [`LEADING: ${toLine(turn.winner)}`];
  const votes = winnerVotes(turn);
  return [`WINNER: ${toLine(turn.winner)}`, ...(votes === null ? [] : [`VOTES: ${votes}`])];
}

/** Returns `3 agents`, or `1 of 3 agents took part` if agents failed. */
function participation(turn: TurnView): string {
  const participants = participantsOfTurn(turn);
  const missing = participants.filter(({ tookPart, error }) => !tookPart && error !== null).length;
  const all = plural(participants.length, "agent");
  return turn.status !== "cancelled" && missing > 0
    ? `${participants.length - missing} of ${all} took part`
    : all;
}

/** Wraps a display, and prints MassGen's line for each new attempt to `output`. */
export const automationDisplay = (output: Output, inner: TurnDisplay): TurnDisplay => ({
  update(message, view) {
    const { event } = message;
    if (event?.type === "attempt.started" && event.attempt > 1)
      output.write(`RESTART: Attempt ${event.attempt}\n`);
    inner.update(message, view);
  },
  notice: (text) => inner.notice(text),
  close: () => inner.close(),
});
