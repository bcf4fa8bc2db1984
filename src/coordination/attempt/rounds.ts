import type { EventOf } from "../../protocol/events";
import { isOnlyWithheldText, submitPartial, BASE } from "../decision/answer";
import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import { effectsLeft } from "../budget/budget";
import { LIMITS } from "../limits";
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

/** When rounds start, fail and reach a limit. */

type Cause = EventOf<"round.started">["cause"];

/**
 * Starts a coordination round: a new conversation with every newest answer that the agent may see,
 * in random order.
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
 * Files of a failed round are kept: the next round starts with them until the agent has an answer.
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
 * After its first answer an agent waits for agents without an answer, until the grace time ends.
 */
function mustWaitForOthers(draft: Draft, agent: AgentState): boolean {
  if (agent.answers === 0 || agent.released) return false;
  const { attempt, turn } = draft;
  if (!attempt.agents.some((other) => isLive(other) && other.answers === 0)) return false;
  const isGraceOver = attempt.graceEndsAt !== null && draft.at >= attempt.graceEndsAt;
  return turn.rules.defer_voting_until_all_answered || !isGraceOver;
}

/** The round fails. After several failed rounds in a row the agent fails. */
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
 * The agent fails. If it has no answer, its text or files become its answer. Text that the provider
 * withheld, without files, does not.
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

/** An agent without rounds or effects left drops out; its answers stay. */
function endAtCap(draft: Draft, index: number, problem: Problem): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0 || submitPartial(draft, index)) {
    draft.add({ type: "agent.abstained", ...draft.agentFields(index), ...problem });
  } else {
    draft.add({ type: "agent.failed", ...draft.agentFields(index), ...problem });
  }
}

/**
 * The round reached a limit without a decision. An agent with an answer abstains and keeps its
 * answer. Text or files of an agent without an answer become its answer, and it continues.
 */
export function endRound(draft: Draft, index: number, problem: Problem): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0)
    draft.add({ type: "agent.abstained", ...draft.agentFields(index), ...problem });
  else if (!submitPartial(draft, index))
    draft.add({ type: "agent.failed", ...draft.agentFields(index), ...problem });
}

/**
 * Ends the part of live agents whose next call would exceed a cap, and of agents that made no
 * decision in their decision calls.
 */
export function applyCaps(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status !== "calling") continue;
    if ((agent.round.decisionCalls ?? 0) >= LIMITS.decisionCallsPerRound) {
      endRound(draft, index, limitProblem(draft.turn, agent, draft.at));
    } else if (effectsLeft(draft.turn) <= 0 && !agent.round.call.inFlight) {
      endAtCap(draft, index, effectsProblem(draft.turn));
    }
  }
}

/** Ends rounds that exceed their time, even if effects are in flight. */
export function endLateRounds(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status === "voted") continue;
    const time = agent.answers === 0 ? firstAnswerTime(draft.turn) : roundTime(draft.turn, agent);
    if (time && draft.at >= time.endsAt)
      endRound(draft, index, limitProblem(draft.turn, agent, draft.at));
  }
}
