import type { EndedBy } from "../../protocol/events";
import { isHeldBack, keepUnfinished } from "../decision/answer";
import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import { reopenVoided } from "../decision/injection";
import { isUnaffordable } from "../owed";
import { awaitPersonas } from "./personas";
import { applyCaps, endLateRounds, startDueRounds } from "./rounds";
import { type AgentState, candidates, isLive } from "../state";
import { settleAttempt } from "../turn/turn-end";

/** Coordination inside one attempt: who works next, and when it is over. */

export function advanceCoordination(draft: Draft): void {
  if (draft.turn.rules.skip_coordination) return skip(draft);
  if (draft.at < draft.turn.coordinationEndsAt && awaitPersonas(draft)) return;
  if (draft.at < draft.turn.coordinationEndsAt) endLateRounds(draft);
  const endedBy = ending(draft);
  if (endedBy) return settle(draft, endedBy);
  reopenVoided(draft);
  startDueRounds(draft);
  applyCaps(draft);
}

/** One agent, or a team told not to coordinate: its first agent presents. */
function skip(draft: Draft): void {
  const { id } = draft.agent(0);
  draft.add({
    type: "attempt.settled",
    ...draft.here(),
    winner: id,
    label: null,
    tally: {},
    tie: false,
    ended_by: "skipped",
  });
}

/** Why coordination ends now; null while it goes on. */
function ending(draft: Draft): EndedBy | null {
  const live = draft.attempt.agents.filter(isLive);
  if (draft.at >= draft.turn.coordinationEndsAt) return "deadline";
  if (live.length === 0) return "no_agents";
  if (live.every(({ vote }) => vote !== null)) return "consensus";
  return isBudgetUsedUp(draft, live) ? "budget" : null;
}

/** Nothing is in flight, and every live agent that has not voted waits for money, or for one that does. */
function isBudgetUsedUp(draft: Draft, live: readonly AgentState[]): boolean {
  if (Object.keys(draft.turn.inFlight).length > 0) return false;
  const graceIsOn =
    draft.attempt.graceEndsAt !== null && !draft.turn.rules.defer_voting_until_all_answered;
  const stuck = live.filter((agent) => isUnaffordable(draft.turn, agent));
  const waiting = live.filter(
    (agent) => agent.round === null && agent.answers > 0 && !agent.released && !graceIsOn,
  );
  const voted = live.filter(({ vote }) => vote !== null);
  return stuck.length > 0 && stuck.length + waiting.length + voted.length === live.length;
}

/**
 * What agents without an answer leave, text or files, becomes their answer. It voids no votes: nobody can cast another. Not where it
 * could win over the final text of an earlier attempt, which is better than a scrap. A text that its provider held back is only the
 * last resort.
 */
function settle(draft: Draft, endedBy: EndedBy): void {
  cancelEffects(draft, null, endedBy);
  const isUnanswered = candidates(draft.attempt).length === 0;
  const couldWin = draft.turn.rejected !== null && isUnanswered;
  const silent = couldWin ? [] : draft.attempt.agents.filter(({ answers }) => answers === 0);
  for (const { index, failed } of silent) {
    if (isUnanswered || !isHeldBack(draft, index, failed)) keepUnfinished(draft, index);
  }
  settleAttempt(draft, endedBy);
}
