import type { EventOf } from "../../protocol/events";
import { isOnlyWithheldText, submitPartial, BASE } from "../decision/answer";
import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import { effectsLeft } from "../budget/budget";
import { LIMITS } from "../limits";
import { isGivenUp } from "./failing-members";
import { effectsProblem, firstAnswerTime, limitProblem, roundTime } from "./round-limits";
import { shuffle } from "../random";
import {
  type AgentState,
  agentAt,
  candidates,
  isLive,
  type Problem,
  type TurnState,
} from "../state";

/** Starts coordination rounds, and ends rounds that fail or reach a limit. */

type Cause = EventOf<"round.started">["cause"];

/**
 * Starts a coordination round, which is a new conversation. It begins with the newest answer of
 * each agent, in random order, as far as the agent may see these answers.
 */
export function startRound(draft: Draft, index: number, cause: Cause): void {
  const agent = draft.agent(index);
  if (agent.rounds >= LIMITS.roundsPerAgent) {
    endAtCap(draft, index, {
      code: "round_cap",
      message: `It used all ${LIMITS.roundsPerAgent} rounds.`,
    });
    return;
  }
  draft.add({
    type: "round.started",
    ...draft.agentFields(index),
    round: agent.rounds + 1,
    purpose: "coordination",
    labels: shuffle(visibleLabels(draft.turn, index), draft.random),
    cause,
    workspace: draft.rulesOf(index).workspace ? BASE : null,
    ...(keepsFiles(draft, index, cause) && { carries: agent.rounds }),
  });
}

/**
 * Whether the round starts with the files of the failed round before it. This is so until the agent
 * has an answer.
 */
const keepsFiles = (draft: Draft, index: number, cause: Cause): boolean =>
  cause === "failed" && draft.agent(index).answers === 0 && draft.rulesOf(index).workspace;

/**
 * Labels of the newest answers that the agent may see. Empty before the agent's own first answer.
 */
function visibleLabels(turn: TurnState, index: number): string[] {
  if (agentAt(turn.attempt, index).answers === 0) return [];
  return candidates(turn.attempt).map(({ label }) => label);
}

/**
 * Starts a round for every live agent without one, unless the agent waits for the others' first
 * answers.
 */
export function startDueRounds(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round !== null || mustWaitForOthers(draft, agent)) continue;
    startRound(
      draft,
      index,
      agent.failedRounds > 0 ? "failed" : agent.answers === 0 ? "first" : "answered",
    );
  }
}

/**
 * Whether the agent must wait. After its first answer, an agent waits for agents without an answer
 * until the grace time ends.
 */
function mustWaitForOthers(draft: Draft, agent: AgentState): boolean {
  if (agent.answers === 0 || agent.released) return false;
  const { attempt, turn } = draft;
  if (!attempt.agents.some((other) => isLive(other) && other.answers === 0)) return false;
  const isGraceOver = attempt.graceEndsAt !== null && draft.at >= attempt.graceEndsAt;
  return turn.rules.defer_voting_until_all_answered || !isGraceOver;
}

/** Ends the agent's round as failed. After several failed rounds in a row, the agent fails too. */
export function failRound(
  draft: Draft,
  index: number,
  problem: { code: string; message: string },
): void {
  draft.add({ type: "round.failed", ...draft.roundFields(index), ...problem });
  if (draft.agent(index).failedRounds >= LIMITS.failedRoundsInARow)
    failAgent(draft, index, problem);
}

/**
 * Ends the agent's part as failed. If the agent has no answer, its text or files become its answer.
 * There is one exception: text that the provider withheld, if the agent has no files.
 */
export function failAgent(
  draft: Draft,
  index: number,
  problem: { code: string; message: string },
): void {
  if (draft.agent(index).answers === 0 && !isOnlyWithheldText(draft, index, problem))
    submitPartial(draft, index);
  draft.add({ type: "agent.failed", ...draft.agentFields(index), ...problem });
}

/**
 * Drops members whose calls fail and for which the team no longer waits. The reason is the member's
 * last error.
 */
export function giveUpFailingMembers(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!agent.failing || !isGivenUp(draft.turn, agent, draft.at)) continue;
    const { problem } = agent.failing;
    if (agent.answers === 0) failAgent(draft, index, problem);
    else draft.add({ type: "agent.abstained", ...draft.agentFields(index), ...problem });
  }
}

/** Ends the part of an agent that may start no more rounds or effects. Its answers stay. */
function endAtCap(draft: Draft, index: number, problem: Problem): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0 || submitPartial(draft, index)) {
    draft.add({ type: "agent.abstained", ...draft.agentFields(index), ...problem });
  } else {
    draft.add({ type: "agent.failed", ...draft.agentFields(index), ...problem });
  }
}

/**
 * Ends a round that reached a limit without a decision. An agent with an answer abstains and keeps
 * its answer. If an agent has no answer, its text or files become its answer, and the agent
 * continues; without text and files, the agent fails.
 */
export function endRound(draft: Draft, index: number, problem: Problem): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0)
    draft.add({ type: "agent.abstained", ...draft.agentFields(index), ...problem });
  else if (!submitPartial(draft, index))
    draft.add({ type: "agent.failed", ...draft.agentFields(index), ...problem });
}

/**
 * Ends the round of each live agent that made no decision in its decision calls, and the part of
 * each live agent for whose next call the turn has no effects left.
 */
export function applyCaps(draft: Draft): void {
  // Counted again only after a change: the count itself visits all agents.
  let left = effectsLeft(draft.turn);
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status !== "calling") continue;
    if ((agent.round.decisionCalls ?? 0) >= LIMITS.decisionCallsPerRound) {
      endRound(draft, index, limitProblem(draft.turn, agent, draft.at));
    } else if (left <= 0 && !agent.round.call.inFlight) {
      endAtCap(draft, index, effectsProblem(draft.turn));
    } else continue;
    left = effectsLeft(draft.turn);
  }
}

/** Ends the rounds whose time is up, even if effects are in flight. */
export function endLateRounds(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status === "voted") continue;
    const time = agent.answers === 0 ? firstAnswerTime(draft.turn) : roundTime(draft.turn, agent);
    if (time && draft.at >= time.endsAt)
      endRound(draft, index, limitProblem(draft.turn, agent, draft.at));
  }
}
