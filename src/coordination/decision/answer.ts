import type { Decision } from "../../protocol/events";
import { byteLength, truncateTo } from "../byte-length";
import type { Draft } from "../draft";
import { handOver, keptWith, leftOutBy, unfinished } from "./handover";
import { answerLabel, BASE } from "./labels";
import { LIMITS } from "../limits";
import { novelty } from "./novelty";
import { isWithheld } from "./stop-reason";
import { type AgentState, answerAt, isLive, type TurnState } from "../state";

/** The rules of `new_answer`: what is accepted, what an accepted answer voids, and who may still offer one. */

type NewAnswer = Extract<Decision, { name: "new_answer" }>;
type Refusal = { code: string; message: string };

/** `refused` counts as a nudge; `at_limit` does not. */
export type Verdict = "accepted" | "refused" | "at_limit";

export function proposeAnswer(
  draft: Draft,
  index: number,
  { content, tool_call }: NewAnswer,
): Verdict {
  const limit = answerLimit(draft.turn, draft.agent(index));
  const refusal = unusable(content) ?? limit ?? notNew(draft, draft.agent(index), content);
  if (!refusal) {
    submitAnswer(draft, index, { content, origin: "tool", tool_call });
    return "accepted";
  }
  draft.add({ type: "answer.refused", ...draft.inRound(index), tool_call, ...refusal });
  return refusal === limit ? "at_limit" : "refused";
}

type Submission =
  | { content: string; origin: "tool"; tool_call: string }
  | { content: string; origin: "partial" };

/** Accepts an answer, after which no vote is valid any more. */
function submitAnswer(draft: Draft, index: number, submission: Submission): void {
  const votes = draft.attempt.agents.flatMap(({ id, vote }) =>
    vote ? [{ agent: id, label: answerAt(draft.attempt, vote.revision).label }] : [],
  );
  const by = addAnswer(draft, index, submission);
  if (votes.length > 0) draft.add({ type: "votes.cleared", ...draft.here(), by, votes });
}

/** Next revision and label, and a snapshot of its files. Gives the label. */
function addAnswer(draft: Draft, index: number, submission: Submission): string {
  const label = answerLabel(index, draft.agent(index).answers + 1);
  const revision = draft.attempt.answers.length + 1;
  draft.add({
    type: "answer.submitted",
    ...draft.of(index),
    label,
    revision,
    ...submission,
    ...filesWith(draft, index, label),
  });
  return label;
}

/**
 * The files that go with an answer. Where the round changed none, those of its author's answer before stay, or, with a first answer
 * of an attempt, those that the turn began with.
 */
function filesWith(draft: Draft, index: number, label: string) {
  if (!draft.rulesOf(index).workspace) return { snapshot: null };
  const earlier = draft.agent(index).snapshot ?? BASE;
  return {
    ...handOver(draft, index, { label, earlier }),
    ...keptWith(draft, index),
    ...leftOutBy(draft, index),
  };
}

/** What the agent wrote before it was cut, text or files, becomes its answer, if there is anything and it may still answer. */
export function submitPartial(draft: Draft, index: number): boolean {
  const partial = partialOf(draft, index);
  if (partial) submitAnswer(draft, index, partial);
  return partial !== null;
}

/** The same as coordination ends: votes stay valid. */
export function keepUnfinished(draft: Draft, index: number): void {
  const partial = partialOf(draft, index);
  if (partial) addAnswer(draft, index, partial);
}

/** Whether all that an agent leaves is a text that its provider held back. `failure`: why the agent failed. */
export const isHeldBack = (
  draft: Draft,
  index: number,
  failure: { code: string } | null,
): boolean =>
  failure !== null && isWithheld(failure.code) && draft.writtenPaths(index).length === 0;

function partialOf(draft: Draft, index: number): Extract<Submission, { origin: "partial" }> | null {
  const content = unfinished(draft, index);
  return content === null
    ? null
    : { content: truncateTo(LIMITS.answerBytes, content), origin: "partial" };
}

/** Why the agent may not offer another answer now; null if it may. A first answer is never limited. */
export function answerLimit(turn: TurnState, agent: AgentState): Refusal | null {
  const { rules, attempt } = turn;
  if (agent.answers === 0) return null;
  if (agent.answers >= rules.max_new_answers_per_agent) {
    return {
      code: "answer_limit",
      message: `You have given all ${rules.max_new_answers_per_agent} answers you may give. Vote.`,
    };
  }
  if (
    rules.max_new_answers_global !== null &&
    attempt.answers.length >= rules.max_new_answers_global
  ) {
    return { code: "team_limit", message: "The team has given all the answers it may give. Vote." };
  }
  if (attempt.answers.reduce((sum, { bytes }) => sum + bytes, 0) >= LIMITS.attemptAnswersBytes) {
    return {
      code: "size_limit",
      message: "The team's answers have filled the 8 MB they may take together. Vote.",
    };
  }
  if (
    rules.fairness_lead_cap_answers !== null &&
    lead(attempt.agents, agent) > rules.fairness_lead_cap_answers
  ) {
    return {
      code: "lead_limit",
      message: "You are too many answers ahead of others who are still working. Vote.",
    };
  }
  return null;
}

/** How far ahead one more answer would put the agent of the other live agents without a valid vote. */
function lead(agents: readonly AgentState[], agent: AgentState): number {
  const others = agents.filter(
    (other) => other.index !== agent.index && isLive(other) && other.vote === null,
  );
  return others.length === 0
    ? 0
    : agent.answers + 1 - Math.min(...others.map(({ answers }) => answers));
}

function unusable(content: string): Refusal | null {
  if (content.trim() === "")
    return {
      code: "empty_answer",
      message: "The answer is empty. Write the complete answer into `content`.",
    };
  if (byteLength(content) > LIMITS.answerBytes) {
    return {
      code: "answer_too_large",
      message: `The answer is over ${LIMITS.answerBytes / 1024} KB. Put the bulk of it in a file.`,
    };
  }
  return null;
}

function notNew(draft: Draft, agent: AgentState, content: string): Refusal | null {
  if (agent.answers === 0) return null;
  const shown = agent.shown.map((revision) => answerAt(draft.attempt, revision).content);
  switch (novelty(content, shown, draft.turn.rules.answer_novelty_requirement)) {
    case "new":
      return null;
    case "duplicate":
      return {
        code: "duplicate_answer",
        message:
          "This is identical to an answer you were shown. Vote for it, or say something new.",
      };
    case "too_similar":
      return {
        code: "too_similar",
        message:
          "This is too close to an answer you were shown. Vote for it, or take a really different approach.",
      };
  }
}
