import type { EndedBy } from "../../protocol/events";
import { isOnlyWithheldText, keepPartial } from "../decision/answer";
import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import { reopenVoidedVoters } from "../decision/injection";
import { awaitSummary } from "../history/summary";
import { isUnaffordable } from "../owed";
import { awaitPersonas } from "./personas";
import { applyCaps, endLateRounds, giveUpFailingMembers, startDueRounds } from "./rounds";
import { type AgentState, candidates, isLive } from "../state";
import { settleAttempt } from "../turn/turn";

/** Coordination within one attempt: which agent works next, and when coordination ends. */

export function advanceCoordination(draft: Draft): void {
  if (awaitSummary(draft) || !draft.running) return;
  if (draft.turn.rules.skip_coordination) return skipCoordination(draft);
  if (draft.at < draft.turn.coordinationEndsAt && awaitPersonas(draft)) return;
  if (draft.at < draft.turn.coordinationEndsAt) {
    endLateRounds(draft);
    giveUpFailingMembers(draft);
  }
  const endedBy = endReason(draft);
  if (endedBy) return settleCoordination(draft, endedBy);
  reopenVoidedVoters(draft);
  startDueRounds(draft);
  applyCaps(draft);
}

/** Ends coordination at once in a team that skips it. The first agent presents. */
function skipCoordination(draft: Draft): void {
  const { id } = draft.agent(0);
  draft.add({
    type: "attempt.settled",
    ...draft.attemptFields(),
    winner: id,
    label: null,
    tally: {},
    tie: false,
    ended_by: "skipped",
  });
}

/** Why coordination ends now; `null` while it continues. */
function endReason(draft: Draft): EndedBy | null {
  const live = draft.attempt.agents.filter(isLive);
  if (draft.at >= draft.turn.coordinationEndsAt) return "deadline";
  if (live.length === 0) return "no_agents";
  if (live.every(({ vote }) => vote !== null)) return "consensus";
  return isBudgetUsedUp(draft, live) ? "budget" : null;
}

/**
 * Whether the budget stops the coordination. True if no effect is in flight and every live agent
 * without a vote either cannot pay its next call or waits for an agent that cannot pay.
 */
function isBudgetUsedUp(draft: Draft, live: readonly AgentState[]): boolean {
  if (Object.keys(draft.turn.inFlight).length > 0) return false;
  const isGraceRunning =
    draft.attempt.graceEndsAt !== null && !draft.turn.rules.defer_voting_until_all_answered;
  const unaffordable = live.filter((agent) => isUnaffordable(draft.turn, agent));
  const waiting = live.filter(
    (agent) => agent.round === null && agent.answers > 0 && !agent.released && !isGraceRunning,
  );
  const voted = live.filter(({ vote }) => vote !== null);
  return (
    unaffordable.length > 0 && unaffordable.length + waiting.length + voted.length === live.length
  );
}

/**
 * Ends coordination. The text and files of an agent without an answer become its answer. This does
 * not void votes, because no agent can vote again.
 *
 * There are two exceptions. If an earlier attempt has a final text and this attempt has no answer,
 * no answer is added, because it would win over that final text. Text that a provider withheld is
 * used only if there is no other answer.
 */
function settleCoordination(draft: Draft, endedBy: EndedBy): void {
  cancelEffects(draft, null, endedBy);
  const hasNoAnswer = candidates(draft.attempt).length === 0;
  const couldWin = draft.turn.rejected !== null && hasNoAnswer;
  const unanswered = couldWin ? [] : draft.attempt.agents.filter(({ answers }) => answers === 0);
  for (const { index, failed } of unanswered) {
    if (hasNoAnswer || !isOnlyWithheldText(draft, index, failed)) keepPartial(draft, index);
  }
  settleAttempt(draft, endedBy);
}
