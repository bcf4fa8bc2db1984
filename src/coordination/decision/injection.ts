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
 * Injection: shows newer answers to a working agent between its calls. The agent's round continues.
 */

type InjectionChannel = "tool_result" | "message" | "reopened";

/**
 * Whether there are answers that the agent must still see. Before its own first answer, an agent
 * must see none.
 */
function mustSeeAnswers(turn: TurnState, agent: AgentState): boolean {
  return isLive(agent) && agent.answers > 0 && agent.seen < newestRevision(turn.attempt);
}

/**
 * Shows the agent the answers that it has not seen. If the conversation would exceed its share of
 * the model's context window, a new round starts instead. A round allows a limited number of
 * injections with tool results; after these, newer answers wait for another channel.
 */
export function injectAnswers(draft: Draft, index: number, via: InjectionChannel): void {
  const agent = draft.agent(index);
  if (!mustSeeAnswers(draft.turn, agent)) return;
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

/** Reopens the rounds of agents whose votes were voided. Their conversations continue. */
export function reopenVoidedVoters(draft: Draft): void {
  for (const { index, round, vote } of draft.attempt.agents) {
    if (round?.status === "voted" && vote === null) injectAnswers(draft, index, "reopened");
  }
}

/**
 * Whether the conversation would exceed its share of the context window. The bytes of the unseen
 * answers are an upper bound of their tokens.
 */
function exceedsContext(draft: Draft, index: number, unseen: readonly Answer[]): boolean {
  const addedTokens = unseen.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    draft.round(index).contextTokens + addedTokens >
    draft.rulesOf(index).context_window * LIMITS.contextShare
  );
}
