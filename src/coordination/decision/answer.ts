import type { Decision } from "../../protocol/events";
import { byteLength, truncateTo } from "../byte-length";
import type { Draft } from "../draft";
import { handedFiles, keptFileCount, leftOutFiles, unfinishedText } from "./handover";
import { LIMITS } from "../limits";
import { isWithheld } from "./stop-reason";
import { type AgentState, answerAt, isLive, type TurnState } from "../state";
import type { TeamRules } from "../../protocol/team";

/**
 * The rules of `new_answer`: which answers are accepted, which votes an answer voids, and which
 * agents may still answer.
 */

type NewAnswer = Extract<Decision, { name: "new_answer" }>;
type Refusal = { code: string; message: string };

/**
 * The outcome of a proposed answer. The agent gets a reminder after `refused`, but not after
 * `at_limit`.
 */
export type ProposalOutcome = "accepted" | "refused" | "at_limit";

export function proposeAnswer(
  draft: Draft,
  index: number,
  { content, tool_call }: NewAnswer,
): ProposalOutcome {
  const limit = answerLimit(draft.turn, draft.agent(index));
  const refusal =
    contentRefusal(content) ?? limit ?? noveltyRefusal(draft, draft.agent(index), content);
  if (!refusal) {
    submitAnswer(draft, index, { content, origin: "tool", tool_call });
    return "accepted";
  }
  draft.add({ type: "answer.refused", ...draft.roundFields(index), tool_call, ...refusal });
  return refusal === limit ? "at_limit" : "refused";
}

type Submission =
  | { content: string; origin: "tool"; tool_call: string }
  | { content: string; origin: "partial" };

/** Accepts an answer and voids all votes. */
function submitAnswer(draft: Draft, index: number, submission: Submission): void {
  const votes = draft.attempt.agents.flatMap(({ id, vote }) =>
    vote ? [{ agent: id, label: answerAt(draft.attempt, vote.revision).label }] : [],
  );
  const by = addAnswer(draft, index, submission);
  if (votes.length > 0) draft.add({ type: "votes.cleared", ...draft.attemptFields(), by, votes });
}

/**
 * Adds an answer with the next revision and label, and a snapshot of its files. Returns the label.
 */
function addAnswer(draft: Draft, index: number, submission: Submission): string {
  const label = answerLabel(draft.numberOf(index), draft.agent(index).answers + 1);
  const revision = draft.attempt.answers.length + 1;
  draft.add({
    type: "answer.submitted",
    ...draft.agentFields(index),
    label,
    revision,
    ...submission,
    ...answerFiles(draft, index, label),
  });
  return label;
}

/**
 * The file fields of an answer. If the round changed no file, the files of the author's previous
 * answer stay, or, for a first answer, the files from the start of the turn.
 */
function answerFiles(draft: Draft, index: number, label: string) {
  if (!draft.rulesOf(index).workspace) return { snapshot: null };
  const earlier = draft.agent(index).snapshot ?? BASE;
  return {
    ...handedFiles(draft, index, { label, earlier }),
    ...keptFileCount(draft, index),
    ...leftOutFiles(draft, index),
  };
}

/**
 * Submits the text or files of an agent that was stopped as its answer. Returns false if the agent
 * has neither.
 */
export function submitPartial(draft: Draft, index: number): boolean {
  const partial = partialOf(draft, index);
  if (partial) submitAnswer(draft, index, partial);
  return partial !== null;
}

/** Does the same as `submitPartial` at the end of coordination, where votes stay valid. */
export function keepPartial(draft: Draft, index: number): void {
  const partial = partialOf(draft, index);
  if (partial) addAnswer(draft, index, partial);
}

/**
 * Whether the agent's only work is text that its provider withheld. `failure` is the reason why the
 * agent failed; `null` if it did not fail.
 */
export const isOnlyWithheldText = (
  draft: Draft,
  index: number,
  failure: { code: string } | null,
): boolean =>
  failure !== null && isWithheld(failure.code) && draft.writtenPaths(index).length === 0;

function partialOf(draft: Draft, index: number): Extract<Submission, { origin: "partial" }> | null {
  const content = unfinishedText(draft, index);
  return content === null
    ? null
    : { content: truncateTo(LIMITS.answerBytes, content), origin: "partial" };
}

/** Why the agent may not answer again now; `null` if it may. A first answer is never limited. */
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
    leadAfterNextAnswer(attempt.agents, agent) > rules.fairness_lead_cap_answers
  ) {
    return {
      code: "lead_limit",
      message: "You are too many answers ahead of others who are still working. Vote.",
    };
  }
  return null;
}

/**
 * The lead that the agent would have after one more answer, compared with the agent that has the
 * fewest answers. Only live agents without a valid vote are compared.
 */
function leadAfterNextAnswer(agents: readonly AgentState[], agent: AgentState): number {
  const otherAgents = agents.filter(
    (other) => other.index !== agent.index && isLive(other) && other.vote === null,
  );
  return otherAgents.length === 0
    ? 0
    : agent.answers + 1 - Math.min(...otherAgents.map(({ answers }) => answers));
}

function contentRefusal(content: string): Refusal | null {
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

function noveltyRefusal(draft: Draft, agent: AgentState, content: string): Refusal | null {
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

/**
 * Maximum share of common words. With a higher share, an answer is too similar to an answer that
 * its author has seen.
 */
const MAX_OVERLAP: Record<TeamRules["answer_novelty_requirement"], number> = {
  lenient: 1,
  balanced: 0.7,
  strict: 0.5,
};

type Novelty = "new" | "duplicate" | "too_similar";

/** Compares an answer with the answers that its author has seen. */
function novelty(
  content: string,
  shown: readonly string[],
  requirement: TeamRules["answer_novelty_requirement"],
): Novelty {
  const text = normalise(content);
  const otherTexts = shown.map(normalise);
  if (otherTexts.includes(text)) return "duplicate";
  const maxOverlap = MAX_OVERLAP[requirement];
  if (maxOverlap >= 1) return "new";
  const words = wordSet(text);
  return otherTexts.some((other) => overlap(words, wordSet(other)) > maxOverlap)
    ? "too_similar"
    : "new";
}

/** Paths of private workspaces. */
const WORKSPACES =
  /\/(?:workspace|peers\/agent\d+)(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])\/?|(?:workspace|peers\/agent\d+)\//gu;

/** Removes differences in white space and in paths of private workspaces. */
function normalise(text: string): string {
  return text.replaceAll(WORKSPACES, "").replaceAll(/\s+/g, " ").trim();
}

const wordSet = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

/** Jaccard index: common words divided by all words; 0 if neither text has words. */
function overlap(a: Set<string>, b: Set<string>): number {
  const all = a.union(b).size;
  return all === 0 ? 0 : a.intersection(b).size / all;
}

/** Names of answers for people, files and the API. Models see only aliases. */
type AnswerLabel = `agent${number}.${number}`;
type FinalLabel = `agent${number}.final`;

/** `agent`: the agent's number in labels. `answer` counts its answers in this attempt from 1. */
const answerLabel = (agent: number, answer: number): AnswerLabel => `agent${agent}.${answer}`;

export const finalLabel = (agent: number): FinalLabel => `agent${agent}.final`;

/**
 * Name of the snapshot from the start of the turn. Other snapshots have an answer label as name.
 */
export const BASE = "base";
