import type { EventOf } from "../protocol/events";
import { submitPartial } from "./answer";
import { cancelEffects } from "./calls";
import type { Draft } from "./draft";
import { BASE } from "./labels";
import { LIMITS } from "./limits";
import { effectsLeft } from "./owed";
import { shuffle } from "./random";
import { type AgentState, agentAt, candidates, isLive, type TurnState } from "./state";
import { initialRoundEnd } from "./timers";

/** When rounds begin, fail and run out. */

type Cause = EventOf<"round.started">["cause"];

/** Starts a coordination round: a fresh context with every newest answer the agent may see, in an order drawn anew. */
export function startRound(draft: Draft, index: number, cause: Cause): void {
  const agent = draft.agent(index);
  if (agent.rounds >= LIMITS.roundsPerAgent) {
    capReached(draft, index, { code: "round_cap", message: `It used all ${LIMITS.roundsPerAgent} rounds.` });
    return;
  }
  draft.add({
    type: "round.started",
    ...draft.of(index),
    round: agent.rounds + 1,
    purpose: "coordination",
    labels: shuffle(visibleLabels(draft.turn, index), draft.random),
    cause,
    workspace: draft.rulesOf(index).workspace ? BASE : null,
  });
}

/** Labels of every agent's newest answer that the agent may be shown now: none before its own first. */
function visibleLabels(turn: TurnState, index: number): string[] {
  if (agentAt(turn.attempt, index).answers === 0) return [];
  return candidates(turn.attempt).map(({ label }) => label);
}

/** Every live agent without a round begins one, unless it waits for the others' first answers. */
export function startDueRounds(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round !== null || mustWait(draft, agent)) continue;
    startRound(draft, index, agent.failedRounds > 0 ? "failed" : agent.answers === 0 ? "first" : "answered");
  }
}

/** After its own first answer an agent waits for those without one, but not for ever. */
function mustWait(draft: Draft, agent: AgentState): boolean {
  if (agent.answers === 0 || agent.released) return false;
  const { attempt, turn } = draft;
  if (!attempt.agents.some((other) => isLive(other) && other.answers === 0)) return false;
  const graceOver = attempt.graceEndsAt !== null && draft.at >= attempt.graceEndsAt;
  return turn.rules.defer_voting_until_all_answered || !graceOver;
}

/** The round is lost; after several in a row the agent has failed. */
export function failRound(draft: Draft, index: number, problem: { code: string; message: string }): void {
  draft.add({ type: "round.failed", ...draft.inRound(index), ...problem });
  if (draft.agent(index).failedRounds >= LIMITS.failedRoundsInARow) failAgent(draft, index, problem);
}

export function failAgent(draft: Draft, index: number, problem: { code: string; message: string }): void {
  draft.add({ type: "agent.failed", ...draft.of(index), ...problem });
}

/** An agent out of rounds, calls or effects leaves the live set; its answers stay. */
function capReached(draft: Draft, index: number, problem: { code: string; message: string }): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0 || submitPartial(draft, index)) {
    draft.add({ type: "agent.abstained", ...draft.of(index), ...problem });
  } else {
    failAgent(draft, index, problem);
  }
}

/** Live agents whose next call would pass a cap. */
export function applyCaps(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status !== "calling") continue;
    if (agent.round.calls >= LIMITS.callsPerRound) {
      capReached(draft, index, { code: "call_cap", message: `It used all ${LIMITS.callsPerRound} calls of a round.` });
    } else if (effectsLeft(draft.turn) <= 0 && !agent.round.call.inFlight) {
      capReached(draft, index, { code: "effect_cap", message: `The turn used all its ${LIMITS.effectsPerTurn} calls.` });
    }
  }
}

/** A first round that takes too long ends with what it has written, or with the agent. */
export function endInitialRounds(draft: Draft): void {
  if (draft.at < initialRoundEnd(draft.turn)) return;
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.answers > 0) continue;
    const code = "initial_round_timeout";
    cancelEffects(draft, index, code);
    const message = agent.called ? "It gave no first answer in time." : "Its first call could not be sent in time.";
    if (!submitPartial(draft, index)) failAgent(draft, index, { code, message });
  }
}
