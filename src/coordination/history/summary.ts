import { workLeft } from "../budget/budget";
import { truncateTo } from "../byte-length";
import { cancelEffects } from "../call/calls";
import { isNormalStop } from "../decision/stop-reason";
import type { Draft } from "../draft";
import type { Reply } from "../inputs";
import { isUnaffordable } from "../owed";
import type { Problem } from "../state";
import { summaryEnd } from "../turn/timers";
import { completeCompact, failCompact } from "./compact";
import { maxSummaryBytes } from "./plan";

/**
 * The summary of earlier turns: one call before the attempt. If it fails, the oldest texts are cut
 * in the prompts. Where the summary is the only work of the turn, the turn fails instead.
 */

/**
 * Starts the planned summary, or ends the wait for it. Returns whether the turn must wait for it.
 */
export function awaitSummary(draft: Draft): boolean {
  const planned = draft.turn.history?.summarises;
  if (!planned) return false;
  const agent = draft.agent(planned.agent);
  const problem = blockerOf(draft, planned.agent);
  if (problem) {
    cancelEffects(draft, agent.index, problem.code);
    skipSummary(draft, problem);
    return false;
  }
  if (agent.round === null)
    draft.add({
      type: "round.started",
      ...draft.agentFields(agent.index),
      round: agent.rounds + 1,
      purpose: "summary",
      labels: [],
      cause: "first",
      workspace: null,
    });
  return true;
}

/** Why the summary cannot be written, or not any more; `null` if it can. */
function blockerOf(draft: Draft, index: number): Problem | null {
  const agent = draft.agent(index);
  if (draft.at >= summaryEnd(draft.turn))
    return { code: "summary_timeout", message: "The summary took too long." };
  if (isUnaffordable(draft.turn, agent))
    return { code: "budget", message: "The turn's budget cannot pay for the summary." };
  if (workLeft(draft.turn) <= 0 && !agent.round?.call.inFlight)
    return { code: "effect_cap", message: "The turn has no calls left for the summary." };
  return null;
}

export function summaryReplied(draft: Draft, { stopReason, text }: Reply): void {
  const { history, kind } = draft.turn;
  const planned = history?.summarises;
  if (!planned) return;
  const summary = truncateTo(maxSummaryBytes(history.bytes), text.trim());
  if (!isNormalStop(stopReason) || summary === "")
    return skipSummary(draft, {
      code: isNormalStop(stopReason) ? "empty" : stopReason,
      message: "The model wrote no complete summary.",
    });
  draft.add({
    type: "history.summarised",
    ...draft.roundFields(planned.agent),
    turns: [...planned.turns],
    ...(history.summary !== null && { after: history.summary }),
    text: summary,
  });
  if (kind === "compact") completeCompact(draft, { author: planned.agent, summary });
}

/** Gives up the summary. Where it is the turn's only work, the turn fails. */
export function skipSummary(draft: Draft, problem: Problem): void {
  const planned = draft.turn.history?.summarises;
  if (!planned) return;
  if (draft.turn.kind === "compact") return failCompact(draft, planned.agent, problem);
  draft.add({ type: "history.cut", ...draft.agentFields(planned.agent), ...problem });
}
