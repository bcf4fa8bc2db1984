import { ASK } from "./suite-limits";
import type { CaseResult } from "./result";

/**
 * The rules of an evaluation run: which case to start next, which session to query, when it is
 * over. Pure; state is data. A case is `starting` once its start is decided, before its session
 * exists, so that a restart starts the same case again.
 */
export type CaseState =
  | { status: "waiting" }
  /** `held`: why its session cannot start yet. */
  | { status: "starting"; startedAt: number; held?: string }
  | { status: "running"; startedAt: number }
  | { status: "done"; endedAt: number; result: CaseResult };

export type RunState = {
  /** Number of cases in progress at a time. */
  atOnce: number;
  /**
   * Time limit of a case. Also the time that it may wait for one of its tenant's slots while no
   * other case of the run ends.
   */
  caseLimitMs: number;
  startedAt: number;
  cases: readonly CaseState[];
};

export type RunEvent =
  /** The case is about to start and counts as in progress. */
  | { type: "case_claimed"; nth: number; at: number }
  /** Its session cannot start yet; a retry follows. */
  | { type: "case_held"; nth: number; why: string }
  /** Its session exists. */
  | { type: "case_started"; nth: number; at: number }
  | { type: "case_ended"; nth: number; at: number; result: CaseResult };

/** Effects that the state requires; all are idempotent. */
export type RunEffect = { type: "create_session" | "ask_session" | "give_up"; nth: number };

export const newRun = (run: {
  cases: number;
  atOnce: number;
  caseLimitMs: number;
  startedAt: number;
}): RunState => ({
  ...run,
  cases: Array.from({ length: run.cases }, () => ({ status: "waiting" })),
});

/** The waiting cases that may start now, in written order. */
export function claimable({ cases, atOnce }: RunState): number[] {
  const free = atOnce - cases.filter(isUnderWay).length;
  return cases
    .flatMap(({ status }, nth) => (status === "waiting" ? [nth] : []))
    .slice(0, Math.max(0, free));
}

/** The effects for each case in progress. */
export function owedAt({ cases, caseLimitMs }: RunState, now: number): RunEffect[] {
  const freedAt = Math.max(
    0,
    ...cases.map((one) => (one.status === "done" && one.result.hasRun ? one.endedAt : 0)),
  );
  return cases.flatMap((state, nth): RunEffect[] => {
    if (!isUnderWay(state)) return [];
    const since =
      state.status === "starting" ? Math.max(state.startedAt, freedAt) : state.startedAt;
    if (now - since > caseLimitMs) return [{ type: "give_up", nth }];
    return [{ type: state.status === "starting" ? "create_session" : "ask_session", nth }];
  });
}

/** The state after an event. A duplicate or late event changes nothing. */
export function evolve(state: RunState, event: RunEvent): RunState {
  const before = state.cases[event.nth];
  const after = before && next(before, event);
  return after ? { ...state, cases: state.cases.with(event.nth, after) } : state;
}

function next(before: CaseState, event: RunEvent): CaseState | null {
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

export const isOver = ({ cases }: RunState): boolean =>
  cases.every(({ status }) => status === "done");

/** Time until sessions are queried again, in ms; longer after a longer time without changes. */
export function nextAskMs(state: RunState, now: number): number {
  const last = Math.max(state.startedAt, ...state.cases.map(lastChange));
  const latest = isOver(state) ? ASK.latestWhenOverMs : ASK.latestMs;
  return Math.min(latest, Math.max(ASK.soonestMs, (now - last) / 4));
}

type RunSummary = {
  cases: number;
  passed: number;
  failed: number;
  errored: number;
  /** The sum of all parts with a known price. */
  costUsd: number;
  /** Whether part of it has no known price. */
  unpriced: boolean;
  /** Unix ms; null while it runs. */
  endedAt: number | null;
};

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

const isUnderWay = (state: CaseState): state is Extract<CaseState, { startedAt: number }> =>
  state.status === "starting" || state.status === "running";

function lastChange(state: CaseState): number {
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
