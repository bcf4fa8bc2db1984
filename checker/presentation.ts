import type { EventOf } from "../src/protocol/events";
import { agentOf, answerOf, type Board, type BoardAgent, coordinationEnd } from "./board";
import { type Invariant, type NumberedEvent, unless } from "./types";

/**
 * The winner presents once per attempt. If its winning answer replaces its final text, the answer
 * is unchanged.
 */
export const presentation: Invariant = {
  id: "presentation",
  watch: () => ({
    see: ({ event, board, next }) => {
      switch (event.type) {
        case "presentation.started":
          return startViolations(event, board);
        case "presentation.completed":
          return [...finalTextViolations(event, board), ...judgementViolations(event, board, next)];
        case "attempt.restarted":
          return restartViolations(event, board);
        case "personas.assigned":
          return [
            ...unless(board.rules?.personas === true, "personas although the team has none"),
            ...unless(
              board.agents.every(({ coordinationRounds }) => coordinationRounds === 0),
              "personas after the agents began",
            ),
          ];
        default:
          return [];
      }
    },
  }),
};

function startViolations(event: EventOf<"presentation.started">, board: Board): string[] {
  const snapshot = answerOf(board, event.label ?? "")?.snapshot ?? null;
  return [
    ...unless(
      board.settled !== null && board.settled.winner === event.agent,
      "an agent other than the winner presents",
    ),
    ...unless(
      board.settled?.label === event.label,
      "the presentation is of another answer than the winning one",
    ),
    ...unless(board.presenting === null, "a presentation was started twice"),
    ...unless(
      event.label === null || event.workspace === snapshot,
      "the presenter does not start from its winning snapshot",
    ),
  ];
}

function finalTextViolations(event: EventOf<"presentation.completed">, board: Board): string[] {
  const presenter = agentOf(board, event.agent);
  const winning = answerOf(board, board.settled?.label ?? "");
  return [
    ...unless(
      board.presenting?.agent === event.agent,
      "a final text of an agent that did not present",
    ),
    ...unless(
      event.label === `agent${presenter?.number ?? 0}.final`,
      `a final text labelled ${event.label}`,
    ),
    ...unless(
      event.source !== "answer" || winning?.content === event.content,
      "the winning answer was changed when it replaced the final text",
    ),
    ...unless(
      isReused(event, board) || (event.source === "presentation") === (event.fallback === null),
      "a fallback without a reason, or a reason without one",
    ),
    ...unless(
      board.rules?.reuse_winning_answer !== true || winning === undefined || isReused(event, board),
      "the winning answer was not reused",
    ),
    ...unless(
      event.source !== "partial" || winning === undefined,
      "a partial text was presented although there is an answer",
    ),
    ...unless(event.content.trim() !== "", "an empty final text"),
    ...unless(
      Buffer.byteLength(event.content) <= MAX_BYTES,
      "a final text that is too long to be shown",
    ),
    ...unless(
      event.text_file === undefined || namesFile(event),
      "a final text that does not name its file",
    ),
    ...unless(
      event.source !== "presentation" || presenter?.round?.lastCallEnd?.type === "call.completed",
      "a presentation without a reply",
    ),
    ...unless(
      event.source !== "presentation" || hasCompleteReply(presenter),
      "a final text of a reply that was cut or withheld",
    ),
    ...unless(
      event.tools.join() === (presenter?.round?.executedTools ?? []).join(),
      "the final text does not list the tools that ran",
    ),
  ];
}

/** Maximum length of a final text in UTF-8 bytes. */
const MAX_BYTES = 256 * 1024;

/** Whether the last line of a cut final text names the file with the complete text. */
function namesFile({
  content,
  source,
  text_file: file,
}: EventOf<"presentation.completed">): boolean {
  const last = content.split("\n").at(-1) ?? "";
  return (
    source === "presentation" &&
    // A character has up to 4 bytes, so a cut text may be that much shorter.
    Buffer.byteLength(content) > MAX_BYTES - 4 &&
    last.endsWith(` is in the file ${file}.]`)
  );
}

/** Whether the rules reuse the winning answer as the final text. */
const isReused = (event: EventOf<"presentation.completed">, board: Board): boolean =>
  board.rules?.reuse_winning_answer === true &&
  event.source === "answer" &&
  event.fallback === null;

/**
 * The presenter judges its final text, unless no further attempt is allowed, or no time is left for
 * a further attempt.
 */
function judgementViolations(
  event: EventOf<"presentation.completed">,
  board: Board,
  next: NumberedEvent | undefined,
): string[] {
  const isLast =
    event.attempt > (board.rules?.max_orchestration_restarts ?? 0) ||
    event.at >= coordinationEnd(board);
  const isJudged =
    next?.type === "round.started" && next.purpose === "judgement" && next.agent === event.agent;
  return unless(
    isLast || isJudged || event.source !== "presentation",
    "a final text was not judged although another attempt may follow",
  );
}

function hasCompleteReply(presenter: BoardAgent | undefined): boolean {
  const last = presenter?.round?.lastCallEnd;
  return (
    last?.type === "call.completed" &&
    (last.stop_reason === "stop" || last.stop_reason === "tool_calls")
  );
}

function restartViolations(event: EventOf<"attempt.restarted">, board: Board): string[] {
  return [
    ...unless(
      event.attempt <= (board.rules?.max_orchestration_restarts ?? 0),
      "more restarts than allowed",
    ),
    ...unless(
      board.final?.source === "presentation" && board.final.agent === event.agent,
      "restarted by an agent that presented nothing",
    ),
  ];
}
