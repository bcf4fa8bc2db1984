import type { Draft } from "../draft";
import type { Problem } from "../state";
import { turnTotals } from "../turn/totals";

/** The ends of a turn of kind `compact`, which only summarises the conversation so far. */

/** Name of the summary of agent `n` in the event that ends its turn. */
const summaryLabel = (n: number): string => `agent${n}.summary`;

/** `author`: index of the agent that wrote the summary. */
export function completeCompact(
  draft: Draft,
  { author, summary }: { author: number; summary: string },
): void {
  draft.add({
    type: "turn.completed",
    at: draft.at,
    turn: draft.turn.number,
    winner: draft.agent(author).id,
    label: summaryLabel(draft.numberOf(author)),
    attempt: draft.attempt.number,
    answer: summary,
    finish_reason: "skipped",
    ...turnTotals(draft),
  });
}

export function failCompact(draft: Draft, author: number, problem: Problem): void {
  draft.add({
    type: "turn.failed",
    at: draft.at,
    turn: draft.turn.number,
    code: "summary_failed",
    message: `The conversation was not summarised: ${problem.message}`,
    agents: [{ agent: draft.agent(author).id, ...problem }],
    ...turnTotals(draft),
  });
}
