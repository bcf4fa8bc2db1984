import type { EventOf } from "../../protocol/events";
import { isHeldBack, submitPartial } from "../decision/answer";
import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import { effectsLeft } from "../tool/effect-cap";
import { BASE } from "../decision/labels";
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

/** When rounds begin, fail and run out. */

type Cause = EventOf<"round.started">["cause"];

/** Starts a coordination round: a fresh context with every newest answer the agent may see, in an order drawn anew. */
export function startRound(draft: Draft, index: number, cause: Cause): void {
  const agent = draft.agent(index);
  if (agent.rounds >= LIMITS.roundsPerAgent) {
    capReached(draft, index, {
      code: "round_cap",
      message: `It used all ${LIMITS.roundsPerAgent} rounds.`,
    });
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
    ...(keepsFiles(draft, index, cause) && { carries: agent.rounds }),
  });
}

/** A lost round's files are not lost: the next round goes on with them, until the agent has an answer. */
const keepsFiles = (draft: Draft, index: number, cause: Cause): boolean =>
  cause === "failed" && draft.agent(index).answers === 0 && draft.rulesOf(index).workspace;

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
    startRound(
      draft,
      index,
      agent.failedRounds > 0 ? "failed" : agent.answers === 0 ? "first" : "answered",
    );
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
export function failRound(
  draft: Draft,
  index: number,
  problem: { code: string; message: string },
): void {
  draft.add({ type: "round.failed", ...draft.inRound(index), ...problem });
  if (draft.agent(index).failedRounds >= LIMITS.failedRoundsInARow)
    failAgent(draft, index, problem);
}

/**
 * What it wrote, text or files, is not lost with it: it becomes its answer, if it has none yet. A text that the provider held back
 * is no answer without files.
 */
export function failAgent(
  draft: Draft,
  index: number,
  problem: { code: string; message: string },
): void {
  if (draft.agent(index).answers === 0 && !isHeldBack(draft, index, problem))
    submitPartial(draft, index);
  draft.add({ type: "agent.failed", ...draft.of(index), ...problem });
}

/** An agent out of rounds or effects leaves the live set; its answers stay. */
function capReached(draft: Draft, index: number, problem: Problem): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0 || submitPartial(draft, index)) {
    draft.add({ type: "agent.abstained", ...draft.of(index), ...problem });
  } else {
    draft.add({ type: "agent.failed", ...draft.of(index), ...problem });
  }
}

/**
 * A round's limit was reached and no decision came: text and files of an agent without an answer become its answer, and it goes
 * on; an agent with an answer keeps it and abstains.
 */
export function endRound(draft: Draft, index: number, problem: Problem): void {
  cancelEffects(draft, index, problem.code);
  if (draft.agent(index).answers > 0)
    draft.add({ type: "agent.abstained", ...draft.of(index), ...problem });
  else if (!submitPartial(draft, index))
    draft.add({ type: "agent.failed", ...draft.of(index), ...problem });
}

/** Live agents whose next call would pass a cap, and those that did not decide when they were asked for nothing else. */
export function applyCaps(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status !== "calling") continue;
    if ((agent.round.decisionCalls ?? 0) >= LIMITS.decisionCallsPerRound) {
      endRound(draft, index, limitProblem(draft.turn, agent, draft.at));
    } else if (effectsLeft(draft.turn) <= 0 && !agent.round.call.inFlight) {
      capReached(draft, index, effectsProblem(draft.turn));
    }
  }
}

/** Rounds that take too long end, whatever is under way in them. */
export function endLateRounds(draft: Draft): void {
  for (const { index } of draft.attempt.agents) {
    const agent = draft.agent(index);
    if (!isLive(agent) || agent.round?.status === "voted") continue;
    const time = agent.answers === 0 ? firstAnswerTime(draft.turn) : roundTime(draft.turn, agent);
    if (time && draft.at >= time.endsAt)
      endRound(draft, index, limitProblem(draft.turn, agent, draft.at));
  }
}
