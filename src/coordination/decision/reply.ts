import { proposeAnswer, submitPartial } from "./answer";
import { chargeFor, reservationOf, usageOrReserved } from "../call/calls";
import { NO_SUMMARY } from "../call/compaction";
import type { Draft } from "../draft";
import { giveUp } from "../call/failure";
import type { Decision, StopReason } from "../../protocol/events";
import { inject } from "./injection";
import type { Reply } from "../inputs";
import { LIMITS } from "../limits";
import { personasReplied } from "../attempt/personas";
import { judgementReplied, presentationReplied } from "../attempt/presentation";
import { limitProblem } from "../attempt/round-limits";
import { endRound, failRound } from "../attempt/rounds";
import { isCut, isWithheld } from "./stop-reason";
import { refuseTools, requestTools } from "../tool/tools";
import { proposeVote } from "./vote";

/** A complete reply: it is settled, its tools are asked for, and what it decides is judged as things stand then. */
export function callReplied(draft: Draft, effectId: string, reply: Reply): void {
  const entry = reservationOf(draft, effectId);
  if (!entry) return;
  const index = entry.agent;
  tellHosted(draft, index, { call: effectId, reply });
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
  }
}

/** What hosted tools did in a call that is about to be completed, and the sources of its text. No rule asks for either. */
function tellHosted(
  draft: Draft,
  index: number,
  { call, reply }: { call: string; reply: Reply },
): void {
  const place = { ...draft.inRound(index), call };
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
    ...draft.inRound(index),
    call: effectId,
    provider,
    model,
    stop_reason: reply.stopReason,
    usage: usageOrReserved(reply.usage, tokens),
    ...(reply.usage ? {} : { unreported: true as const }),
    ...cost,
    tools: reply.tools.map(({ toolCall, name }) => ({ tool_call: toolCall, name })),
    decisions: reply.tools.length > 0 ? reply.decisions.map(bounded) : [],
  });
}

/** Notes for the agent itself: functions were not offered, so none that it names counts, and no decision is missed. */
function researchReplied(
  draft: Draft,
  index: number,
  { effectId, reply }: { effectId: string; reply: Reply },
): void {
  completeCall(draft, index, { effectId, reply: { ...reply, tools: [], decisions: [] } });
  if (isWithheld(reply.stopReason)) failWithheld(draft, index, reply.stopReason);
  else update(draft, index, "message");
}

/** Notes for the agent itself, in place of what they sum up. Without any the call that was too long cannot be made. */
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
      ...draft.inRound(index),
      call: effectId,
      ...dropped,
    });
  else if (tooLong) giveUp(draft, index, NO_SUMMARY);
}

function failWithheld(draft: Draft, index: number, code: StopReason): void {
  failRound(draft, index, { code, message: "The model's reply was withheld by its provider." });
}

/** What is over a limit is refused when it is judged, so the log need not keep all of it until then. */
function bounded(decision: Decision): Decision {
  switch (decision.name) {
    case "new_answer":
      return { ...decision, content: decision.content.slice(0, LIMITS.answerBytes + 1) };
    case "vote":
      return { ...decision, reason: decision.reason.slice(0, LIMITS.reasonBytes + 1) };
    case "invalid":
      return decision;
  }
}

/** `decides`: the call offered no tools, so none that the reply names runs. */
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

/** All tools of a reply have their results: now its decision counts, or the agent goes on, perhaps with news. */
export function afterTools(draft: Draft, index: number): void {
  const { decisions, purpose } = draft.round(index);
  if (purpose !== "coordination") return;
  if (decisions.length > 0) judgeDecisions(draft, index, decisions);
  else update(draft, index, "tool_result");
}

/** Shows what is new while the agent works, unless the team's agents are to work undisturbed. */
function update(draft: Draft, index: number, via: "tool_result" | "message"): void {
  if (!draft.turn.rules.disable_injection) inject(draft, index, via);
}

function judgeDecisions(draft: Draft, index: number, decisions: readonly Decision[]): void {
  switch (judge(draft, index, decisions)) {
    case "refused":
      return nudge(draft, index);
    case "at_limit":
      return update(draft, index, "message");
    case "accepted":
    case "stale":
      return;
  }
}

type Outcome = "accepted" | "refused" | "at_limit" | "stale";

function judge(draft: Draft, index: number, decisions: readonly Decision[]): Outcome {
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

type Refused = { decisions: readonly Decision[]; code: string; message: string };

/** A reply may hold any number of decisions; the log names no more of them than of other tools. */
function refuseAll(draft: Draft, index: number, { decisions, code, message }: Refused): "refused" {
  for (const decision of decisions.slice(0, LIMITS.toolsPerReply)) {
    const type = toolOf(decision) === "vote" ? "vote.refused" : "answer.refused";
    draft.add({ type, ...draft.inRound(index), tool_call: decision.tool_call, code, message });
  }
  return "refused";
}

/** Asks once more for a decision; after too many times takes what there is. */
function nudge(draft: Draft, index: number): void {
  const { nudges } = draft.round(index);
  if (nudges < LIMITS.nudgesPerRound) {
    draft.add({ type: "round.nudged", ...draft.inRound(index), nudge: nudges + 1 });
    update(draft, index, "message");
    return;
  }
  if (draft.agent(index).answers === 0 && submitPartial(draft, index)) return;
  failRound(draft, index, {
    code: "no_decision",
    message: `It neither answered nor voted after ${LIMITS.nudgesPerRound} reminders.`,
  });
}
