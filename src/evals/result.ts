import { grade } from "./grade";
import { MAX_DETAIL_CHARS, MAX_KEPT_ANSWER_CHARS } from "./suite-limits";
import type { Grader } from "./schema";

/** The result of a case. `errored`: there is no answer to grade. */
export type CaseResult = {
  /** Whether it had a session. */
  hasRun: boolean;
  outcome: "passed" | "failed" | "errored";
  detail: string;
  /** The start of the answer; `null` if there is none. */
  answer: string | null;
  isCut: boolean;
  /** The sum of all parts with a known price. */
  costUsd: number;
  /** Part of the cost has no known price; omitted if all has. */
  unpriced?: true;
  durationMs: number;
};

/** The fields of a session's turn that a result needs. Times in Unix seconds. */
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
 * The result of a settled turn; `null` while it runs. Grades the whole answer and stores its start.
 */
export function judge(turn: TurnEnd, grader: Grader): CaseResult | null {
  if (turn.status === "running") return null;
  const { answer } = turn;
  const spent = {
    hasRun: true,
    costUsd: turn.cost_usd_known,
    ...(turn.cost_usd === null && { unpriced: true as const }),
    durationMs: Math.max(
      0,
      Math.round(((turn.ended_at ?? turn.started_at) - turn.started_at) * 1000),
    ),
  };
  if (turn.status !== "completed" || answer === null)
    return { ...errored(reasonOf(turn)), ...spent };
  const { pass, detail } = grade(answer, grader);
  const kept = answer.slice(0, MAX_KEPT_ANSWER_CHARS).toWellFormed();
  return {
    outcome: pass ? "passed" : "failed",
    detail: cut(detail),
    answer: kept,
    isCut: answer.length > kept.length,
    ...spent,
  };
}

/**
 * The result of a case whose session was cancelled at the time limit. If the turn ended just
 * before, its own result counts. Its cost counts in any case.
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
 * The result of a case that failed. Its cost is unknown if it had a session, which can no longer be
 * queried.
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
