import { ASK } from "./suite-limits";
import type { CaseResult } from "./result";

/**
 * The state of one case of an evaluation run. A case is `starting` from the decision to start it
 * until its session exists, so that the same case is started again after a restart. This file
 * contains the rules of a run: which case to start next, which session to query, and when the run
 * is over. All functions are pure.
 */
export type CaseState =
  | { status: "waiting" }
  /** `held`: why the case's session could not start at the last try. */
  | { status: "starting"; startedAt: number; held?: string }
  | { status: "running"; startedAt: number }
  | { status: "done"; endedAt: number; result: CaseResult };

/** The state of an evaluation run. All times are in unix ms. */
export type RunState = {
  /** Maximum number of cases in progress at the same time. */
  atOnce: number;
  /**
   * Time limit of a case. It is also the longest time that a case waits for its session to start;
   * this time begins again when another case of the run ends.
   */
  caseLimitMs: number;
  startedAt: number;
  cases: readonly CaseState[];
};

/** An event of a run. `nth`: the index of the case. `at`: unix ms. */
export type RunEvent =
  /** The case is about to start and counts as in progress. */
  | { type: "case_claimed"; nth: number; at: number }
  /** The case's session cannot start yet; the start will be retried. */
  | { type: "case_held"; nth: number; why: string }
  /** The case's session exists. */
  | { type: "case_started"; nth: number; at: number }
  | { type: "case_ended"; nth: number; at: number; result: CaseResult };

/** An effect that the state requires for the case at index `nth`. All effects are idempotent. */
export type RunEffect = { type: "create_session" | "ask_session" | "give_up"; nth: number };

/** The state of a run at its start. `cases`: the number of cases. */
export const newRun = (run: {
  cases: number;
  atOnce: number;
  caseLimitMs: number;
  startedAt: number;
}): RunState => ({
  ...run,
  cases: Array.from({ length: run.cases }, () => ({ status: "waiting" })),
});

/** The indexes of the waiting cases that may start now, in the order of the suite. */
export function claimable({ cases, atOnce }: RunState): number[] {
  const free = atOnce - cases.filter(isInProgress).length;
  return cases
    .flatMap(({ status }, nth) => (status === "waiting" ? [nth] : []))
    .slice(0, Math.max(0, free));
}

/** The effects that cases in progress require at `now` (unix ms). */
export function owedAt({ cases, caseLimitMs }: RunState, now: number): RunEffect[] {
  const lastCaseEndedAt = Math.max(
    0,
    ...cases.map((one) => (one.status === "done" && one.result.hasRun ? one.endedAt : 0)),
  );
  return cases.flatMap((state, nth): RunEffect[] => {
    if (!isInProgress(state)) return [];
    const waitingSince =
      state.status === "starting" ? Math.max(state.startedAt, lastCaseEndedAt) : state.startedAt;
    if (now - waitingSince > caseLimitMs) return [{ type: "give_up", nth }];
    return [{ type: state.status === "starting" ? "create_session" : "ask_session", nth }];
  });
}

/** The state after an event. A duplicate or late event changes nothing. */
export function evolve(state: RunState, event: RunEvent): RunState {
  const before = state.cases[event.nth];
  const after = before && caseAfter(before, event);
  return after ? { ...state, cases: state.cases.with(event.nth, after) } : state;
}

/** The state of a case after an event; `null` if the event changes nothing. */
function caseAfter(before: CaseState, event: RunEvent): CaseState | null {
  switch (event.type) {
    case "case_claimed":
      return before.status === "waiting" ? { status: "starting", startedAt: event.at } : null;
    case "case_started":
      return before.status === "starting" ? { status: "running", startedAt: event.at } : null;
    case "case_held":
      return before.status === "starting" ? { ...before, held: event.why } : null;
    case "case_ended":
      return before.status === "done"
        ? null
        : { status: "done", endedAt: event.at, result: event.result };
  }
}

/** Whether every case has a result. */
export const isOver = ({ cases }: RunState): boolean =>
  cases.every(({ status }) => status === "done");

/**
 * The time until sessions are queried again, in ms. It grows with the time since the last change.
 */
export function nextAskMs(state: RunState, now: number): number {
  const changedAt = Math.max(state.startedAt, ...state.cases.map(lastChangeAt));
  const longestMs = isOver(state) ? ASK.latestWhenOverMs : ASK.latestMs;
  return Math.min(longestMs, Math.max(ASK.soonestMs, (now - changedAt) / 4));
}

type RunSummary = {
  cases: number;
  passed: number;
  failed: number;
  errored: number;
  /** The cost of all parts with a known price, in US dollars. */
  costUsd: number;
  /** Whether a part of the cost has no known price. */
  unpriced: boolean;
  /** Unix ms; `null` while the run is not over. */
  endedAt: number | null;
};

/** Counts the outcomes of a run, and adds up its cost. */
export function summarize(state: RunState): RunSummary {
  const done = state.cases.flatMap((one) => (one.status === "done" ? [one] : []));
  const count = (outcome: CaseResult["outcome"]) =>
    done.filter(({ result }) => result.outcome === outcome).length;
  return {
    cases: state.cases.length,
    passed: count("passed"),
    failed: count("failed"),
    errored: count("errored"),
    costUsd: done.reduce((sum, { result }) => sum + result.costUsd, 0),
    unpriced: done.some(({ result }) => result.unpriced === true),
    endedAt: isOver(state)
      ? Math.max(state.startedAt, ...done.map(({ endedAt }) => endedAt))
      : null,
  };
}

const isInProgress = (state: CaseState): state is Extract<CaseState, { startedAt: number }> =>
  state.status === "starting" || state.status === "running";

/** When a case last changed, unix ms; 0 if it has not started. */
function lastChangeAt(state: CaseState): number {
  switch (state.status) {
    case "waiting":
      return 0;
    case "starting":
    case "running":
      return state.startedAt;
    case "done":
      return state.endedAt;
  }
}
