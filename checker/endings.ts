import { usdOf } from "./price";
import type { EventOf, Usage } from "../src/protocol/events";
import { agentOf, type Board } from "./board";
import { compactEndViolations } from "./history";
import { type Invariant, type NumberedEvent, unless } from "./types";

const TERMINAL: readonly string[] = ["turn.completed", "turn.failed", "turn.cancelled"];

/** I4: one terminal event ends a turn. No event of this turn follows. */
export const oneEnd: Invariant = {
  id: "I4",
  watch: ({ finished }) => ({
    see: ({ event, board }) =>
      board.endedTurn !== null && event.turn === board.endedTurn
        ? [`${event.type} after the turn's terminal event`]
        : [],
    finish: (board) =>
      unless(!finished || board.turn === null || board.endedTurn !== null, "the turn never ended"),
  }),
};

/**
 * I3: a completed turn has the exact final text of one of its presentations. A turn with a final
 * text does not fail.
 */
export const oneFinal: Invariant = {
  id: "I3",
  watch: () => ({
    see: ({ event, board }) => {
      switch (event.type) {
        case "presentation.completed":
          return unless(board.final === null, "a second final text in one attempt");
        case "turn.completed":
          return board.turn?.kind === "compact"
            ? compactEndViolations(event, board)
            : finalTextViolations(event, board);
        case "turn.failed":
          return event.code === "internal"
            ? []
            : unless(board.finals.length === 0, "a turn with a final text has failed");
        default:
          return [];
      }
    },
  }),
};

function finalTextViolations(event: EventOf<"turn.completed">, board: Board): string[] {
  const last = board.finals.at(-1);
  if (!last) return ["the turn completed without a final text"];
  return [
    ...unless(last.content === event.answer, "the turn's answer is not the final text"),
    ...unless(
      last.label === event.label && last.agent === event.winner,
      "the turn names another final text than the presented one",
    ),
    ...unless(last.attempt === event.attempt, "the turn names another attempt than its final text"),
    ...unless(
      board.endings.get(event.attempt)?.ended_by === event.finish_reason,
      "the finish reason is not how that attempt ended",
    ),
    ...unless(
      board.final !== null || board.settled?.winner === null || board.presenting !== null,
      "an earlier final text is used although this attempt has a winner that never presented",
    ),
  ];
}

/**
 * A turn fails only if it has no answer and no partial text to present. Internal errors are exempt.
 */
export const failedTurns: Invariant = {
  id: "failed",
  watch: () => {
    let hasText = false;
    return {
      see: ({ event, board }) => {
        if (event.type === "stream.delta") hasText ||= isText(event, board);
        if (event.type === "attempt.started") hasText = false;
        if (event.type !== "turn.failed" || event.code === "internal") return [];
        return board.turn?.kind === "compact"
          ? unless(event.code === "summary_failed", `the turn failed with ${event.code}`)
          : unfoundedFailure(event, board, hasText);
      },
    };
  },
};

/** Whether the delta contains text of an agent for an answer or a final text. */
export const isText = ({ items }: EventOf<"stream.delta">, board: Board): boolean =>
  items.some(({ kind, agent, text }) => {
    const purpose = agentOf(board, agent)?.round?.purpose;
    const isOwnText =
      (purpose === "coordination" && kind === "text") ||
      (purpose === "presentation" && kind === "final");
    return isOwnText && text.trim() !== "";
  });

/** Reasons why the turn must not have failed, or not with this code or these agents. */
function unfoundedFailure(
  { code, agents }: EventOf<"turn.failed">,
  board: Board,
  hasText: boolean,
): string[] {
  if (board.attempt === 0) return unfoundedRefusal(code, agents.length, board);
  const { settled } = board;
  const expectedAgents =
    settled?.ended_by === "skipped" ? [settled.winner] : board.agents.map(({ id }) => id);
  return [
    ...unless(code === "no_answer", `the turn failed with ${code}`),
    ...unless(settled !== null, "the turn failed before its coordination was over"),
    ...unless(board.answers.length === 0, "the turn failed although there is an answer"),
    ...unless(
      settled === null || settled.label === null,
      "the turn failed although an answer has won",
    ),
    ...unless(!hasText, "the turn failed although an agent has written something"),
    ...unless(
      agents.map(({ agent }) => agent).join() === expectedAgents.join(),
      "the failed turn does not give the reason of each agent",
    ),
  ];
}

/** Refusals for which a queued turn waits, so that they never end it. */
const WAITED_FOR: readonly string[] = ["turn_running", "quota_exceeded", "spend_exceeded"];

/** A turn without an attempt fails only if it was queued and then refused. */
const unfoundedRefusal = (code: string, agents: number, { turn }: Board): string[] => [
  ...unless(turn?.queue_id !== undefined, "a turn failed before its first attempt"),
  ...unless(code !== "no_answer", "a turn without an attempt failed for lack of an answer"),
  ...unless(!WAITED_FOR.includes(code), `a queued turn did not wait, but failed with ${code}`),
  ...unless(agents === 0, "a refused turn names agents"),
];

/** The totals of a terminal event are the sums of the charges of the turn's calls. */
export const totals: Invariant = {
  id: "totals",
  watch: () => {
    let usage = NOTHING;
    let cost = 0;
    let isKnown = true;
    return {
      see: ({ event }) => {
        if (event.type === "turn.started") [usage, cost, isKnown] = [NOTHING, 0, true];
        if (event.type === "call.completed" || event.type === "call.failed") {
          const isReported = event.usage !== null && !("unreported" in event && event.unreported);
          usage = event.usage && isReported ? plus(usage, event.usage) : usage;
          cost += usdOf(event);
          isKnown &&= event.cost_usd !== null;
        }
        return isEnd(event) ? totalViolations(event, { usage, cost, isKnown }) : [];
      },
    };
  },
};

type End = EventOf<"turn.completed" | "turn.failed" | "turn.cancelled">;
const isEnd = (event: NumberedEvent): event is End & { sequence_number: number } =>
  TERMINAL.includes(event.type);

/** `isKnown`: whether the cost of every call is known. */
type Sum = { usage: Usage; cost: number; isKnown: boolean };

function totalViolations(event: End, { usage, cost, isKnown }: Sum): string[] {
  const isSum = JSON.stringify(plus(NOTHING, event.usage)) === JSON.stringify(usage);
  return [
    ...unless(isSum, "the turn's usage is not the sum of its calls"),
    ...unless(
      Math.abs(usdOf(event) - cost) < 1e-9,
      `the turn's cost is ${usdOf(event)}, its calls cost ${cost}`,
    ),
    ...unless(
      (event.cost_usd !== null) === isKnown,
      "the turn's cost is known although a call's is unknown, or vice versa",
    ),
  ];
}

/** The sum of two usages. It has every field, so that sums can be compared as text. */
const plus = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  cache_write_tokens: sum(a.cache_write_tokens, b.cache_write_tokens),
  hosted_uses: {
    web_search: sum(a.hosted_uses?.web_search, b.hosted_uses?.web_search),
    x_search: sum(a.hosted_uses?.x_search, b.hosted_uses?.x_search),
    code_execution: sum(a.hosted_uses?.code_execution, b.hosted_uses?.code_execution),
  },
});

const sum = (a = 0, b = 0): number => a + b;

const zero: Usage = { input_tokens: 0, output_tokens: 0, reasoning_tokens: 0, cached_tokens: 0 };
const NOTHING = plus(zero, zero);

/**
 * I15: after a request to cancel, no effect starts or continues, and the turn ends at once. A turn
 * is not cancelled without a request.
 */
export const cancelledTurns: Invariant = {
  id: "I15",
  watch: ({ cancelAskedAfter = Number.POSITIVE_INFINITY, cancelsAsked }) => {
    let cancelledAt: number | null = null;
    let turnStart = 0;
    return {
      see: ({ event, board, next }) => {
        const violations: string[] = [];
        if (event.type === "turn.started") turnStart = event.sequence_number;
        if (event.sequence_number > cancelAskedAfter && board.endedTurn === null) {
          cancelledAt ??= event.at;
          if (EFFECT_EVENTS.includes(event.type))
            violations.push(`${event.type} after the user cancelled`);
          if (event.at !== cancelledAt)
            violations.push(
              `the turn continues ${event.at - cancelledAt} ms after the user cancelled`,
            );
        }
        if (
          event.type === "attempt.settled" &&
          event.ended_by === "cancelled" &&
          next?.type !== "turn.cancelled"
        ) {
          violations.push("an attempt ended as cancelled, but not its turn");
        }
        if (event.type === "turn.cancelled") {
          const wasRequested =
            cancelsAsked?.some((after) => after >= turnStart && after < event.sequence_number) ??
            true;
          violations.push(
            ...partialResultViolations(event, board),
            ...unless(wasRequested, "the turn was cancelled without a request"),
          );
        }
        return violations;
      },
    };
  },
};

const EFFECT_EVENTS: readonly string[] = [
  "call.started",
  "tool.started",
  "call.completed",
  "tool.completed",
];

/**
 * A cancelled turn states its best result: the winner of the settled attempt, with the winner's
 * answer. Without a winner, it states the author of the last final text.
 */
function partialResultViolations({ partial }: EventOf<"turn.cancelled">, board: Board): string[] {
  const winner = board.settled?.winner ?? board.finals.at(-1)?.agent ?? null;
  const answer = board.answers.find(({ label }) => label === board.settled?.label)?.content ?? null;
  return [
    ...unless(
      partial.winner === winner,
      "the cancelled turn names another winner than the attempt",
    ),
    ...unless(
      answer === null || partial.answer === answer,
      "the cancelled turn has another answer than the winner's",
    ),
  ];
}
