import { grade } from "./grade";
import { MAX_DETAIL_CHARS, MAX_KEPT_ANSWER_CHARS } from "./suite-limits";
import type { Grader } from "./schema";

/** The result of a case. Its outcome is `errored` if there is no answer to grade. */
export type CaseResult = {
  /** Whether the case had a session. */
  hasRun: boolean;
  outcome: "passed" | "failed" | "errored";
  /** The reason of the outcome, as a text for users. */
  detail: string;
  /** The start of the answer; `null` if there is none. */
  answer: string | null;
  /** Whether the answer is longer than `answer`. */
  isCut: boolean;
  /** The cost of all parts with a known price, in US dollars. */
  costUsd: number;
  /** Set if a part of the cost has no known price. */
  unpriced?: true;
  durationMs: number;
};

/** The fields of a session's turn that a result needs. Times are in unix seconds. */
export type TurnEnd = {
  status: "running" | "completed" | "failed" | "cancelled";
  answer: string | null;
  cost_usd: number | null;
  cost_usd_known: number;
  started_at: number;
  ended_at: number | null;
  error: {
    code: string;
    message: string;
    agents: readonly { agent: string; message: string }[];
  } | null;
};

/**
 * The result of a settled turn; `null` while the turn runs. The whole answer is graded; the result
 * contains its start.
 */
export function judge(turn: TurnEnd, grader: Grader): CaseResult | null {
  if (turn.status === "running") return null;
  const { answer } = turn;
  const usage = {
    hasRun: true,
    costUsd: turn.cost_usd_known,
    ...(turn.cost_usd === null && { unpriced: true as const }),
    durationMs: Math.max(
      0,
      Math.round(((turn.ended_at ?? turn.started_at) - turn.started_at) * 1000),
    ),
  };
  if (turn.status !== "completed" || answer === null)
    return { ...errored(reasonOf(turn)), ...usage };
  const { pass, detail } = grade(answer, grader);
  const answerStart = answer.slice(0, MAX_KEPT_ANSWER_CHARS).toWellFormed();
  return {
    outcome: pass ? "passed" : "failed",
    detail: cut(detail),
    answer: answerStart,
    isCut: answer.length > answerStart.length,
    ...usage,
  };
}

/**
 * The result of a case whose session was cancelled at the time limit. If the turn ended before the
 * cancellation, its own result counts. The cost counts in any case.
 */
export function judgeCancelled(turn: TurnEnd, grader: Grader, timeoutSeconds: number): CaseResult {
  const detail = `not completed within ${timeoutSeconds} seconds`;
  const result = judge(turn, grader);
  if (!result) return errored(detail, { hasRun: true });
  if (turn.status !== "cancelled") return result;
  const { costUsd, durationMs, unpriced } = result;
  return { ...errored(detail), hasRun: true, costUsd, durationMs, ...(unpriced && { unpriced }) };
}

/**
 * The result of a case without an answer to grade. If the case had a session, its cost is unknown,
 * because the session cannot be queried.
 */
export const errored = (
  detail: string,
  { hasRun }: Pick<CaseResult, "hasRun"> = { hasRun: false },
): CaseResult => ({
  hasRun,
  outcome: "errored",
  detail: cut(detail),
  answer: null,
  isCut: false,
  costUsd: 0,
  ...(hasRun && { unpriced: true as const }),
  durationMs: 0,
});

const reasonOf = ({ status, error }: TurnEnd): string =>
  error
    ? [
        `${error.code}: ${error.message}`,
        ...error.agents.map(({ agent, message }) => `${agent}: ${message}`),
      ].join(" ")
    : status === "cancelled"
      ? "its session was cancelled"
      : "its session ended without an answer";

const cut = (text: string): string => text.slice(0, MAX_DETAIL_CHARS).toWellFormed();
