import { cancelEffects } from "./calls";
import type { Draft } from "./draft";
import type { EventOf } from "../protocol/events";
import { count } from "./tally";

/** The three ends of a turn. What is still in flight is settled first; nothing is logged for the turn afterwards. */

/** With this attempt's final text, or with the one a later attempt could not better. */
export function completeTurn(draft: Draft): void {
  const final = draft.attempt.final ?? draft.turn.rejected;
  if (!final) throw new Error("a turn cannot complete without a final text");
  cancelEffects(draft, null, "turn_ended");
  draft.add({
    type: "turn.completed",
    at: draft.at,
    turn: draft.turn.number,
    winner: draft.agent(final.agent).id,
    label: final.label,
    attempt: final.attempt,
    answer: final.content,
    finish_reason: final.endedBy,
    ...spent(draft),
  });
}

export function failTurn(draft: Draft, agents: EventOf<"turn.failed">["agents"]): void {
  cancelEffects(draft, null, "turn_ended");
  const message = "No agent produced an answer.";
  draft.add({ type: "turn.failed", at: draft.at, turn: draft.turn.number, code: "no_answer", message, agents, ...spent(draft) });
}

/** The user's wish, in any phase: the best there is so far is kept, and nothing new begins. */
export function cancelTurn(draft: Draft): void {
  const { attempt } = draft;
  const text = attempt.presenter === null ? null : (attempt.final?.content ?? draft.partial(attempt.presenter));
  cancelEffects(draft, null, "cancelled");
  if (!attempt.settled) settleAttempt(draft, "cancelled");
  const winner = draft.attempt.settled?.winner ?? draft.turn.rejected?.agent ?? null;
  const revision = draft.attempt.settled?.revision ?? null;
  const answer = revision === null ? undefined : draft.attempt.answers[revision - 1];
  draft.add({
    type: "turn.cancelled",
    at: draft.at,
    turn: draft.turn.number,
    partial: {
      winner: winner === null ? null : draft.agent(winner).id,
      answer: answer?.content ?? draft.turn.rejected?.content ?? null,
      text,
    },
    ...spent(draft),
  });
}

/** Closes coordination with the count as it stands. */
export function settleAttempt(draft: Draft, endedBy: EventOf<"attempt.settled">["ended_by"]): void {
  cancelEffects(draft, null, endedBy);
  const { winner, votes, tie } = count(draft.attempt);
  draft.add({
    type: "attempt.settled",
    ...draft.here(),
    winner: winner ? draft.agent(winner.agent).id : null,
    label: winner?.label ?? null,
    tally: votes,
    tie,
    ended_by: endedBy,
  });
}

const spent = (draft: Draft) => ({ usage: draft.turn.usage, cost_usd: draft.turn.spentUsd });
