import type { EndedBy } from "../../protocol/events";
import { truncateTo } from "../byte-length";
import { cancelEffects } from "../call/calls";
import type { Draft } from "../draft";
import type { Reply } from "../inputs";
import { workLeft } from "../budget/budget";
import { handedFiles, keptFiles, unfinishedText } from "../decision/handover";
import { BASE, finalLabel } from "../decision/answer";
import { LIMITS } from "../limits";
import { isLongFinal, truncateFinal, TEXT_FILE } from "./long-final";
import { isUnaffordable } from "../owed";
import { callsPerRound, effectsProblem, roundTime } from "./round-limits";
import { type AgentState, type Answer, answerAt, type Problem, type Settlement } from "../state";
import { isNormalStop, isWithheld } from "../decision/stop-reason";
import { refuseTools, requestTools } from "../tool/tools";
import { completeTurn, failTurn } from "../turn/turn";

/**
 * The winner writes the final text. If another attempt is allowed, the winner also judges this
 * text. Then the turn ends or the next attempt starts.
 */

/** Starts the presentation, or ends it if time, budget or calls are used up. */
export function advancePresentation(draft: Draft, settled: Settlement): void {
  const { presenter, final } = draft.attempt;
  if (settled.winner === null) return endWithoutAnswer(draft, settled);
  if (presenter === null) return startPresentation(draft, settled.winner);
  if (final === null) {
    const problem = blockerOf(draft, presenter);
    if (problem) fallBack(draft, problem);
  } else if (draft.at >= draft.turn.coordinationEndsAt || blockerOf(draft, presenter)) {
    completeTurn(draft);
  }
}

function startPresentation(draft: Draft, winner: number): void {
  const answer = winningAnswer(draft);
  const agent = draft.agent(winner);
  draft.add({
    type: "presentation.started",
    ...draft.agentFields(winner),
    round: agent.rounds + 1,
    label: answer?.label ?? null,
    workspace: initialSnapshot(draft, winner),
  });
  if (answer && draft.turn.rules.reuse_winning_answer)
    return completePresentation(draft, winner, reuseAnswer(answer, null));
  if (agent.failed)
    fallBack(draft, {
      code: "winner_failed",
      message: "The winner failed before it could present.",
    });
}

/** Snapshot of the files with which the presenter starts; `null` if it has no workspace. */
function initialSnapshot(draft: Draft, winner: number): string | null {
  const answer = winningAnswer(draft);
  if (answer) return answer.snapshot;
  return draft.rulesOf(winner).workspace ? BASE : null;
}

/** Why the presenter cannot continue; `null` if it can. */
function blockerOf(draft: Draft, presenter: number): Problem | null {
  const agent = draft.agent(presenter);
  if (draft.at >= draft.turn.deadlineAt)
    return { code: "deadline", message: "The turn's time is up." };
  if (isUnaffordable(draft.turn, agent))
    return { code: "budget", message: "The turn's budget is used up." };
  const time = roundTime(draft.turn, agent);
  if (time && draft.at >= time.endsAt)
    return { code: "round_timeout", message: "The time for the presentation is up." };
  return null;
}

/**
 * Handles the presenter's reply, which requests tools or is the final text. If the reply cannot be
 * used, falls back to the winning answer. `decides`: the call offered no tools and asked only for
 * the final text.
 */
export function presentationReplied(
  draft: Draft,
  index: number,
  { reply, decides }: { reply: Reply; decides: boolean },
): void {
  if (decides) refuseTools(draft, index);
  const problem = rejectionReason(decides ? { ...reply, tools: [] } : reply);
  if (problem)
    return fallBack(
      draft,
      decides && problem.code === "empty" ? presentationProblem(draft, index) : problem,
    );
  if (!decides && reply.tools.length > 0) return requestTools(draft, index);
  const textFile = textFileOf(draft, index, reply);
  completePresentation(
    draft,
    index,
    { content: truncateFinal(reply.text, textFile), source: "presentation", fallback: null },
    textFile,
  );
}

/** File that stores a long final text; `null` if the text is not long or cannot be stored. */
function textFileOf(draft: Draft, index: number, { text, storable }: Reply): string | null {
  if (!storable || !draft.rulesOf(index).workspace || !isLongFinal(text)) return null;
  const facts = draft.workspace(index);
  return facts && (facts.textFile ?? TEXT_FILE);
}

/** Why the presentation ends if its last call, which offered no tools, returned no text. */
function presentationProblem(draft: Draft, index: number): Problem {
  const calls = callsPerRound(draft.turn);
  if (draft.round(index).calls > calls)
    return { code: "call_cap", message: `The presenter used all ${calls} calls.` };
  if (workLeft(draft.turn) <= 0) return effectsProblem(draft.turn);
  return { code: "round_timeout", message: "The presenter wrote no final text in time." };
}

function rejectionReason({ stopReason, text, tools }: Reply): Problem | null {
  if (stopReason === "length")
    return { code: "length", message: "The final text was cut at its output limit." };
  if (isWithheld(stopReason)) {
    return { code: stopReason, message: "The final text was withheld by its provider." };
  }
  if (!isNormalStop(stopReason)) {
    return {
      code: "unknown_ending",
      message: "The provider returned an unknown stop reason, so the final text may be incomplete.",
    };
  }
  if (tools.length === 0 && text.trim() === "")
    return { code: "empty", message: "The final text was empty." };
  return null;
}

/**
 * Ends a failed presentation. The final text is the first of these that exists: the winning
 * answer, the final text of an earlier attempt, the presenter's partial text. If none exists, the
 * turn fails.
 *
 * The presenter's files are kept, because its workspace started with the winning answer's files.
 */
export function fallBack(draft: Draft, problem: Problem): void {
  const { presenter } = draft.attempt;
  if (presenter === null) return;
  cancelEffects(draft, presenter, problem.code);
  const answer = winningAnswer(draft);
  const partial = unfinishedText(draft, presenter);
  if (answer) completePresentation(draft, presenter, reuseAnswer(answer, problem.code));
  else if (draft.turn.rejected) completeTurn(draft);
  else if (partial)
    completePresentation(draft, presenter, {
      content: truncateTo(LIMITS.finalBytes, partial),
      source: "partial",
      fallback: problem.code,
    });
  else failTurn(draft, [{ agent: draft.agent(presenter).id, ...problem }]);
}

const reuseAnswer = ({ content }: Answer, fallback: string | null): FinalContent => ({
  content,
  source: "answer",
  fallback,
});

/** `fallback` is the code of the problem that ended the presentation; `null` if none did. */
type FinalContent = {
  content: string;
  source: "presentation" | "answer" | "partial";
  fallback: string | null;
};

function completePresentation(
  draft: Draft,
  index: number,
  presented: FinalContent,
  textFile: string | null = null,
): void {
  const tools = [...(draft.agent(index).round?.executed ?? [])];
  const label = finalLabel(draft.numberOf(index));
  const files =
    textFile === null
      ? finalFiles(draft, index, {
          label,
          isReused: presented.source === "answer" && presented.fallback === null,
        })
      : { snapshot: label, files: "workspace" as const, text_file: textFile };
  const changed = presented.fallback === null ? undefined : draft.workspace(index)?.edits;
  const changedFiles = changed === undefined ? {} : { changed_files: changed };
  draft.add({
    type: "presentation.completed",
    ...draft.agentFields(index),
    label,
    ...presented,
    tools,
    ...files,
    ...changedFiles,
  });
  if (!mayRestart(draft) || presented.source !== "presentation") return completeTurn(draft);
  const place = { ...draft.agentFields(index), round: draft.agent(index).rounds + 1 };
  draft.add({
    type: "round.started",
    ...place,
    purpose: "judgement",
    labels: [],
    cause: "first",
    workspace: null,
  });
}

/**
 * The snapshot fields of the presentation. Files that the presenter did not change stay, as in an
 * answer. `isReused`: the winning answer is the final text, without a presentation call.
 */
function finalFiles(
  draft: Draft,
  index: number,
  { label, isReused }: { label: string; isReused: boolean },
) {
  const earlier = initialSnapshot(draft, index);
  if (earlier === null) return { snapshot: null };
  return isReused ? keptFiles(earlier) : handedFiles(draft, index, { label, earlier });
}

/** Whether the rules and the remaining time allow another attempt. */
function mayRestart(draft: Draft): boolean {
  return (
    draft.attempt.number <= draft.turn.rules.max_orchestration_restarts &&
    draft.at < draft.turn.coordinationEndsAt
  );
}

/** Handles the presenter's verdict. Without a verdict, the final text counts as accepted. */
export function judgementReplied(draft: Draft, { stopReason, verdict }: Reply): void {
  const { presenter } = draft.attempt;
  if (presenter === null || !isNormalStop(stopReason) || !verdict?.restart)
    return completeTurn(draft);
  const { reason, instructions } = verdict;
  draft.add({ type: "attempt.restarted", ...draft.agentFields(presenter), reason, instructions });
  const next = { at: draft.at, turn: draft.turn.number, attempt: draft.attempt.number + 1 };
  draft.add({ type: "attempt.started", ...next, feedback: { reason, instructions } });
}

function endWithoutAnswer(draft: Draft, { endedBy }: Settlement): void {
  if (draft.turn.rejected) return completeTurn(draft);
  failTurn(
    draft,
    draft.attempt.agents.map((agent) => ({
      agent: agent.id,
      ...(agent.failed ??
        agent.abstained ?? { code: endedBy, message: noAnswerReason(endedBy, agent) }),
    })),
  );
}

/**
 * Why an agent has no answer, although it neither failed nor abstained. The session view adds the
 * agent's last failed call to this message.
 */
function noAnswerReason(endedBy: EndedBy, { called }: AgentState): string {
  const reasons = NO_ANSWER_REASONS[endedBy];
  if (reasons === undefined) return "It wrote nothing.";
  return called ? reasons.afterCalls : reasons.beforeFirstCall;
}

const NO_ANSWER_REASONS: Partial<Record<EndedBy, { beforeFirstCall: string; afterCalls: string }>> =
  {
    deadline: {
      beforeFirstCall: "Time was up before its first call could be sent.",
      afterCalls: "Time was up before it wrote anything.",
    },
    budget: {
      beforeFirstCall: "The budget had no room for its first call.",
      afterCalls: "The budget was used up before it wrote anything.",
    },
  };

function winningAnswer(draft: Draft): Answer | null {
  const revision = draft.attempt.settled?.revision ?? null;
  return revision === null ? null : answerAt(draft.attempt, revision);
}
