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

/**
 * Inject and continue: shows newer answers to a working agent between its calls, without ending its
 * round.
 */

type InjectionChannel = "tool_result" | "message" | "reopened";

/**
 * Whether there are answers that the agent must still see. Never true before the agent's own first
 * answer.
 */
function isDue(turn: TurnState, agent: AgentState): boolean {
  return isLive(agent) && agent.answers > 0 && agent.seen < newestRevision(turn.attempt);
}

/**
 * Shows the agent the answers it has not seen. If the conversation would exceed its share of the
 * model's window, a new round starts instead. Updates with tool results are limited per round;
 * further updates wait.
 */
export function injectAnswers(draft: Draft, index: number, via: InjectionChannel): void {
  const agent = draft.agent(index);
  if (!isDue(draft.turn, agent)) return;
  if (
    via === "tool_result" &&
    draft.round(index).injections >= draft.turn.rules.max_midstream_injections_per_round
  )
    return;
  const unseen = candidates(draft.attempt).filter(({ revision }) => revision > agent.seen);
  if (exceedsContext(draft, index, unseen)) {
    startRound(draft, index, "context_full");
    return;
  }
  draft.add({
    type: "answers.injected",
    ...draft.roundFields(index),
    labels: unseen.map(({ label }) => label),
    via,
  });
}

/** An agent whose vote was voided continues in the same conversation. */
export function reopenVoidedVoters(draft: Draft): void {
  for (const { index, round, vote } of draft.attempt.agents) {
    if (round?.status === "voted" && vote === null) injectAnswers(draft, index, "reopened");
  }
}

/** Bytes are an upper bound of the update's tokens. */
function exceedsContext(draft: Draft, index: number, unseen: readonly Answer[]): boolean {
  const added = unseen.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    draft.round(index).contextTokens + added >
    draft.rulesOf(index).context_window * LIMITS.contextShare
  );
}
