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
 * MassGen's `--automation`: few lines of `KEY: value` on stdout. Where MassGen names its log folder
 * and its status file, this service names the session and the address that gives the same fields;
 * there is no folder on this machine to name.
 */

/** What a program needs to follow the run, before anything else. */
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

/** The result of the turn. `answerAt`: the file or the address that has the whole answer. */
export function endLines(turn: TurnView, answerAt: { file: string } | { url: string }): string[] {
  const duration = `${(((turn.endedAt ?? turn.startedAt) - turn.startedAt) / 1000).toFixed(1)}s`;
  const answer = finalText(turn);
  const preview = toLine(answer);
  const where =
    "file" in answerAt ? `ANSWER_FILE: ${answerAt.file}` : `ANSWER_URL: ${answerAt.url}`;
  return [
    "",
    ...winnerLines(turn),
    ...warningsOf(turn).map((text) => `WARNING: ${toLine(text)}`),
    ...(answer === "" ? [] : [where]),
    `DURATION: ${duration}`,
    `COST: ${costWords(turn)}`,
    ...(answer === ""
      ? []
      : [
          `ANSWER_PREVIEW: ${preview.length > PREVIEW_CHARS ? `${preview.slice(0, PREVIEW_CHARS).toWellFormed()}...` : preview}`,
        ]),
    ...errorLines(turn),
    "",
    `${turn.status === "completed" ? "COMPLETED" : turn.status.toUpperCase()}: ${agentWords(turn)}, ${duration} total`,
  ];
}

/** Why there is no answer: what is said of the turn, then each agent's own reason. */
function errorLines(turn: TurnView): string[] {
  if (turn.status === "cancelled") return ["ERROR: cancelled"];
  if (!turn.failure) return [];
  const reasons = failureReasons(turn).map(({ agent, reason }) => `${agent}: ${reason}`);
  return [turn.failure.message, ...reasons].map((text) => `ERROR: ${toLine(text)}`);
}

/** Only a completed turn has a winner; in a cancelled one, an answer was ahead. */
function winnerLines(turn: TurnView): string[] {
  if (turn.winner === null || turn.failure) return [];
  if (turn.status !== "completed") return [`LEADING: ${toLine(turn.winner)}`];
  const votes = winnerVotes(turn);
  return [`WINNER: ${toLine(turn.winner)}`, ...(votes === null ? [] : [`VOTES: ${votes}`])];
}

/** `3 agents`; where some have no part in the result, `1 of 3 agents took part`. */
function agentWords(turn: TurnView): string {
  const participants = participantsOfTurn(turn);
  const missing = participants.filter(({ tookPart, error }) => !tookPart && error !== null).length;
  const all = plural(participants.length, "agent");
  return turn.status !== "cancelled" && missing > 0
    ? `${participants.length - missing} of ${all} took part`
    : all;
}

/** A line for each new attempt, as MassGen prints it; the rest is what `below` shows. */
export const automationDisplay = (output: Output, below: TurnDisplay): TurnDisplay => ({
  update(message, view) {
    const { event } = message;
    if (event?.type === "attempt.started" && event.attempt > 1)
      output.write(`RESTART: Attempt ${event.attempt}\n`);
    below.update(message, view);
  },
  notice: (text) => below.notice(text),
  close: () => below.close(),
});
