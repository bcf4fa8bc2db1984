import type { Draft } from "../draft";
import { LIMITS } from "../limits";
import { startRound } from "../attempt/rounds";
import {
  type AgentState,
  type Answer,
  candidates,
  isLive,
  newestRevision,
  type TurnState,
} from "../state";

/** Inject and continue: showing newer answers to an agent that works, at its safe points, without ending its round. */

type Via = "tool_result" | "message" | "reopened";

/** Whether the agent has yet to be shown an answer. An agent without an answer of its own is never due. */
function isDue(turn: TurnState, agent: AgentState): boolean {
  return isLive(agent) && agent.answers > 0 && agent.seen < newestRevision(turn.attempt);
}

/**
 * Shows the agent what it has not seen, if it is due. Where the conversation with the update would pass its share of the
 * model's window, a fresh round starts instead. Updates with tool results are limited per round; the rest wait.
 */
export function inject(draft: Draft, index: number, via: Via): void {
  const agent = draft.agent(index);
  if (!isDue(draft.turn, agent)) return;
  if (
    via === "tool_result" &&
    draft.round(index).injections >= draft.turn.rules.max_midstream_injections_per_round
  )
    return;
  const news = candidates(draft.attempt).filter(({ revision }) => revision > agent.seen);
  if (overflows(draft, index, news)) {
    startRound(draft, index, "context_full");
    return;
  }
  draft.add({
    type: "answers.injected",
    ...draft.inRound(index),
    labels: news.map(({ label }) => label),
    via,
  });
}

/** A voter whose vote was voided goes on in the same conversation. */
export function reopenVoided(draft: Draft): void {
  for (const { index, round, vote } of draft.attempt.agents) {
    if (round?.status === "voted" && vote === null) inject(draft, index, "reopened");
  }
}

/** Bytes bound the tokens of the update from above. */
function overflows(draft: Draft, index: number, news: readonly Answer[]): boolean {
  const added = news.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    draft.round(index).contextTokens + added >
    draft.rulesOf(index).context_window * LIMITS.contextShare
  );
}
