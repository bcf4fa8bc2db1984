import { proposeAnswer, submitPartial } from "./answer";
import { chargeFor, inFlightEntry, usageOrReserved } from "../call/calls";
import { NO_SUMMARY } from "../call/compaction";
import type { Draft } from "../draft";
import { loseCall } from "../call/failure";
import type { Decision, StopReason } from "../../protocol/events";
import { injectAnswers } from "./injection";
import { summaryReplied } from "../history/summary";
import type { Reply } from "../inputs";
import { LIMITS } from "../limits";
import { personasReplied } from "../attempt/personas";
import { judgementReplied, presentationReplied } from "../attempt/presentation";
import { limitProblem } from "../attempt/round-limits";
import { endRound, failRound } from "../attempt/rounds";
import { isCut, isWithheld } from "./stop-reason";
import { refuseTools, requestTools } from "../tool/tools";
import { proposeVote } from "./vote";

/**
 * Handles a complete reply: settles the call, requests its tools, and accepts or refuses its
 * decisions by the current state.
 */
export function callReplied(draft: Draft, effectId: string, reply: Reply): void {
  const entry = inFlightEntry(draft, effectId);
  if (!entry) return;
  const index = entry.agent;
  recordHostedUses(draft, index, { call: effectId, reply });
  if (entry.compacts) return compactionReplied(draft, index, { effectId, reply });
  if (entry.research) return researchReplied(draft, index, { effectId, reply });
  completeCall(draft, index, { effectId, reply });
  switch (draft.round(index).purpose) {
    case "coordination":
      return coordinationReplied(draft, index, { reply, decides: entry.decides === true });
    case "presentation":
      return presentationReplied(draft, index, { reply, decides: entry.decides === true });
    case "judgement":
      return judgementReplied(draft, reply);
    case "personas":
      return personasReplied(draft, reply);
    case "summary":
      return summaryReplied(draft, reply);
  }
}

/**
 * Records the uses of hosted tools in a call that is about to complete, and the sources of its
 * text. No rule depends on these events.
 */
function recordHostedUses(
  draft: Draft,
  index: number,
  { call, reply }: { call: string; reply: Reply },
): void {
  const place = { ...draft.roundFields(index), call };
  for (const use of reply.hosted ?? [])
    draft.add({ type: "hosted_tool.completed", ...place, ...use });
  const { citations = [] } = reply;
  if (citations.length > 0)
    draft.add({ type: "citations.added", ...place, citations: [...citations] });
}

function completeCall(
  draft: Draft,
  index: number,
  { effectId, reply }: { effectId: string; reply: Reply },
): void {
  const { tokens, ...cost } = chargeFor(draft, effectId, reply.usage);
  const { provider, model } = draft.rulesOf(index);
  draft.add({
    type: "call.completed",
    ...draft.roundFields(index),
    call: effectId,
    provider,
    model,
    stop_reason: reply.stopReason,
    usage: usageOrReserved(reply.usage, tokens),
    ...(reply.usage ? {} : { unreported: true as const }),
    ...cost,
    tools: reply.tools.map(({ toolCall, name }) => ({ tool_call: toolCall, name })),
    decisions: reply.tools.length > 0 ? reply.decisions.map(truncateDecision) : [],
  });
}

/**
 * Handles the reply of a research call, which becomes a note in the agent's conversation. The call
 * offered no functions, so tool calls in the reply do not count.
 */
function researchReplied(
  draft: Draft,
  index: number,
  { effectId, reply }: { effectId: string; reply: Reply },
): void {
  completeCall(draft, index, { effectId, reply: { ...reply, tools: [], decisions: [] } });
  if (isWithheld(reply.stopReason)) failWithheld(draft, index, reply.stopReason);
  else injectUpdate(draft, index, "message");
}

/**
 * Handles the reply of a summary call. The summary replaces a part of the conversation. If there is
 * no summary and the conversation is too long, the call is lost.
 */
function compactionReplied(
  draft: Draft,
  index: number,
  { effectId, reply }: { effectId: string; reply: Reply },
): void {
  const { tooLong } = draft.round(index).call;
  completeCall(draft, index, { effectId, reply: { ...reply, tools: [], decisions: [] } });
  const { dropped } = reply;
  if (dropped)
    draft.add({
      type: "conversation.compacted",
      ...draft.roundFields(index),
      call: effectId,
      ...dropped,
    });
  else if (tooLong) loseCall(draft, index, NO_SUMMARY);
}

function failWithheld(draft: Draft, index: number, code: StopReason): void {
  failRound(draft, index, { code, message: "The model's reply was withheld by its provider." });
}

/**
 * Cuts a decision that exceeds its limit to just above the limit. It is refused later for its
 * length, so the log need not store all of it.
 */
function truncateDecision(decision: Decision): Decision {
  switch (decision.name) {
    case "new_answer":
      return { ...decision, content: decision.content.slice(0, LIMITS.answerBytes + 1) };
    case "vote":
      return { ...decision, reason: decision.reason.slice(0, LIMITS.reasonBytes + 1) };
    case "invalid":
      return decision;
  }
}

/**
 * Handles a reply of a coordination call. With `decides`, the call offered none of the agent's own
 * tools, so no tool in the reply runs.
 */
function coordinationReplied(
  draft: Draft,
  index: number,
  { reply, decides }: { reply: Reply; decides: boolean },
): void {
  if (isWithheld(reply.stopReason)) return failWithheld(draft, index, reply.stopReason);
  if (isCut(reply.stopReason)) return cutReplied(draft, index, reply);
  if (decides) {
    refuseTools(draft, index);
    if (reply.decisions.length > 0) return judgeDecisions(draft, index, reply.decisions);
    return endRound(draft, index, limitProblem(draft.turn, draft.agent(index), draft.at));
  }
  if (reply.tools.length === 0) {
    judgeDecisions(draft, index, reply.decisions);
    return;
  }
  requestTools(draft, index);
  if (draft.round(index).status === "calling") afterTools(draft, index);
}

function cutReplied(draft: Draft, index: number, { decisions }: Reply): void {
  refuseTools(draft, index);
  const message = "The reply was cut at its output limit, so nothing in it counts. Be shorter.";
  refuseAll(draft, index, { decisions, code: "reply_cut", message });
  nudge(draft, index);
}

/**
 * Continues after all tools of a reply have results. If the reply has decisions, they count now.
 * Otherwise the agent continues, possibly with newer answers.
 */
export function afterTools(draft: Draft, index: number): void {
  const { decisions, purpose } = draft.round(index);
  if (purpose !== "coordination") return;
  if (decisions.length > 0) judgeDecisions(draft, index, decisions);
  else injectUpdate(draft, index, "tool_result");
}

/** Shows newer answers to the working agent, unless the team disables injection. */
function injectUpdate(draft: Draft, index: number, via: "tool_result" | "message"): void {
  if (!draft.turn.rules.disable_injection) injectAnswers(draft, index, via);
}

function judgeDecisions(draft: Draft, index: number, decisions: readonly Decision[]): void {
  switch (judgeOneDecision(draft, index, decisions)) {
    case "refused":
      return nudge(draft, index);
    case "at_limit":
      return injectUpdate(draft, index, "message");
    case "accepted":
    case "stale":
      return;
  }
}

type DecisionOutcome = "accepted" | "refused" | "at_limit" | "stale";

function judgeOneDecision(
  draft: Draft,
  index: number,
  decisions: readonly Decision[],
): DecisionOutcome {
  const answers = decisions.filter((decision) => toolOf(decision) === "new_answer");
  const votes = decisions.filter((decision) => toolOf(decision) === "vote");
  if (answers.length > 0 && votes.length > 0) {
    return refuseAll(draft, index, {
      decisions,
      code: "choose_one",
      message: "Choose one: either `new_answer` or `vote`.",
    });
  }
  if (answers.length > 1) {
    return refuseAll(draft, index, {
      decisions: answers,
      code: "two_answers",
      message: "Give exactly one answer, once.",
    });
  }
  const decision = answers[0] ?? votes.at(-1);
  switch (decision?.name) {
    case "new_answer":
      return proposeAnswer(draft, index, decision);
    case "vote":
      return proposeVote(draft, index, decision);
    case "invalid":
      return refuseAll(draft, index, {
        decisions: [decision],
        code: "invalid_arguments",
        message: decision.problem,
      });
    case undefined:
      return "refused";
  }
}

const toolOf = (decision: Decision): "new_answer" | "vote" =>
  decision.name === "invalid" ? decision.tool : decision.name;

type ReplyRefusal = { decisions: readonly Decision[]; code: string; message: string };

/**
 * Refuses the decisions. A reply may contain any number of decisions, so only the first
 * `toolsPerReply` of them are logged.
 */
function refuseAll(
  draft: Draft,
  index: number,
  { decisions, code, message }: ReplyRefusal,
): "refused" {
  for (const decision of decisions.slice(0, LIMITS.toolsPerReply)) {
    const type = toolOf(decision) === "vote" ? "vote.refused" : "answer.refused";
    draft.add({ type, ...draft.roundFields(index), tool_call: decision.tool_call, code, message });
  }
  return "refused";
}

/**
 * Asks again for a decision. After too many reminders, submits the agent's partial text or fails
 * the round.
 */
function nudge(draft: Draft, index: number): void {
  const { nudges } = draft.round(index);
  if (nudges < LIMITS.nudgesPerRound) {
    draft.add({ type: "round.nudged", ...draft.roundFields(index), nudge: nudges + 1 });
    injectUpdate(draft, index, "message");
    return;
  }
  if (draft.agent(index).answers === 0 && submitPartial(draft, index)) return;
  failRound(draft, index, {
    code: "no_decision",
    message: `It neither answered nor voted after ${LIMITS.nudgesPerRound} reminders.`,
  });
}
