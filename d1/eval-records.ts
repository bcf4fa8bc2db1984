import { isOver, type RunState, summarize } from "../src/evals/run";
import type { EvalCaseResult, EvalRun, EvalRunPage } from "../src/protocol/api/evals";
import type { StoredRun } from "../durable-objects/eval-run/eval-run-store";
import { evalSessionId } from "./eval-session-id";
import { confirmSession, forgetUnlessLive, toPreview } from "./session-index";

const RUN_FIELDS =
  "origin, scheduled_at, started_at, ended_at, cases, passed, failed, errored, cost_usd, unpriced";
const RESULT_FIELDS =
  "case_id, question, session_id, outcome, detail, answer, answer_is_cut, cost_usd, duration_ms, ended_at, unpriced";
const READ_FIELDS = `${RESULT_FIELDS}, erased`;
/** Maximum number of runs per tenant and suite. Older runs are deleted with their results. */
const MAX_RUNS = 500;

/**
 * `cost_usd`: the part of the cost with a known price. `unpriced`: 1 if a part has no known price.
 */
type CostRow = { cost_usd: number; unpriced: number };
type RunRow = Omit<EvalRun, "status" | "cost_usd" | "cost_usd_known"> & CostRow;
type ResultRow = Omit<
  EvalCaseResult,
  "case" | "pass" | "answer_is_cut" | "erased" | "cost_usd" | "cost_usd_known"
> &
  CostRow & {
    case_id: string;
    answer_is_cut: number;
    erased: number;
  };

/** Evaluation runs and results in D1: written by the runs' objects, read by the API. */
export class EvalRecords {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /**
   * Writes the current state of the run and the results of the cases at these indexes, in one
   * transaction. Idempotent: a stored result does not change. If a session has been erased
   * meanwhile, only outcome, cost and duration of its case are stored.
   */
  async save(run: StoredRun, state: RunState, caseIndexes: readonly number[]): Promise<void> {
    await this.#db.batch([
      this.#runStatement(run, state),
      ...caseIndexes.flatMap((nth) => this.#resultStatements(run, state, nth)),
      ...(isOver(state) ? this.#deleteOldRuns(run) : []),
    ]);
  }

  /** The latest run of each suite, by suite name. */
  async latest(tenant: string, suites: readonly string[]): Promise<Map<string, EvalRun>> {
    const latestRuns = await Promise.all(
      suites.map((suite) => this.runs(tenant, suite, { before: null, limit: 1 })),
    );
    return new Map(latestRuns.flat().map((run) => [run.suite, run]));
  }

  /**
   * Runs of a suite, newest first. `before`: only runs with a lower id, which are older; `null`
   * starts with the newest.
   */
  async runs(
    tenant: string,
    suite: string,
    { before, limit }: { before: string | null; limit: number },
  ): Promise<EvalRun[]> {
    const sql = `SELECT id, suite, ${RUN_FIELDS} FROM eval_runs WHERE tenant = ? AND suite = ? AND id < ? ORDER BY id DESC LIMIT ?`;
    // "~" sorts after every id: ids are lower-case letters, digits and underscores.
    const { results } = await this.#db
      .prepare(sql)
      .bind(tenant, suite, before ?? "~", limit)
      .all<RunRow>();
    return results.map(toRun);
  }

  /** One run with its results; `null` if there is no such run. */
  async run(tenant: string, suite: string, id: string): Promise<EvalRunPage | null> {
    const runSql = `SELECT id, suite, ${RUN_FIELDS} FROM eval_runs WHERE tenant = ? AND suite = ? AND id = ?`;
    const row = await this.#db.prepare(runSql).bind(tenant, suite, id).first<RunRow>();
    if (!row) return null;
    const sql = `SELECT ${READ_FIELDS} FROM eval_results WHERE tenant = ? AND suite = ? AND run = ? ORDER BY nth`;
    const { results } = await this.#db.prepare(sql).bind(tenant, suite, id).all<ResultRow>();
    return { ...toRun(row), results: results.map(toResult) };
  }

  #runStatement(
    { tenant, suite, id, origin, scheduledAt, startedAt }: StoredRun,
    state: RunState,
  ): D1PreparedStatement {
    const { cases, passed, failed, errored, costUsd, unpriced, endedAt } = summarize(state);
    const sql = `INSERT OR REPLACE INTO eval_runs (tenant, suite, id, ${RUN_FIELDS}) VALUES (${questionMarks(13)})`;
    const counts = [cases, passed, failed, errored, costUsd, unpriced ? 1 : 0];
    const values = [tenant, suite.name, id, origin, scheduledAt, startedAt, endedAt, ...counts];
    return this.#db.prepare(sql).bind(...values);
  }

  /** `nth`: the index of the case. */
  #resultStatements(run: StoredRun, state: RunState, nth: number): D1PreparedStatement[] {
    const caseState = state.cases[nth];
    const suiteCase = run.suite.cases[nth];
    if (caseState?.status !== "done" || !suiteCase) return [];
    const { hasRun, outcome, detail, answer, isCut, costUsd, unpriced, durationMs } =
      caseState.result;
    const sql = `INSERT INTO eval_results (tenant, suite, run, nth, ${RESULT_FIELDS}) VALUES (${questionMarks(15)}) ON CONFLICT DO NOTHING`;
    const session = sessionOf(run, nth);
    const question = previewOf(run, nth);
    const caseValues = [run.tenant, run.suite.name, run.id, nth, suiteCase.id, question, session];
    const values = [
      ...caseValues,
      outcome,
      detail,
      answer,
      isCut ? 1 : 0,
      costUsd,
      durationMs,
      caseState.endedAt,
      unpriced ? 1 : 0,
    ];
    const insertResult = this.#db.prepare(sql).bind(...values);
    if (!hasRun) return [insertResult];
    return [
      insertResult,
      confirmSession(this.#db, run.tenant, session),
      forgetUnlessLive(this.#db, run.tenant, session),
    ];
  }

  #deleteOldRuns({ tenant, suite }: StoredRun): D1PreparedStatement[] {
    const newestToDelete =
      "SELECT id FROM eval_runs WHERE tenant = ?1 AND suite = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3";
    return [
      `DELETE FROM eval_results WHERE tenant = ?1 AND suite = ?2 AND run <= (${newestToDelete})`,
      `DELETE FROM eval_runs WHERE tenant = ?1 AND suite = ?2 AND id <= (${newestToDelete})`,
    ].map((sql) => this.#db.prepare(sql).bind(tenant, suite.name, MAX_RUNS));
  }
}

/** The session id of the case at index `nth`. */
export const sessionOf = ({ suite, id, scheduledAt }: StoredRun, nth: number): string =>
  evalSessionId({ suite: suite.name, run: id, caseId: suite.cases[nth]?.id ?? "", scheduledAt });

const previewOf = ({ suite }: StoredRun, nth: number): string =>
  toPreview(suite.cases[nth]?.question ?? "");

const questionMarks = (count: number): string =>
  Array.from({ length: count }, () => "?").join(", ");

const toCost = ({ cost_usd, unpriced }: CostRow) => ({
  cost_usd: unpriced === 1 ? null : cost_usd,
  cost_usd_known: cost_usd,
});

const toSeconds = (ms: number): number => ms / 1000;

const toRun = ({
  scheduled_at,
  started_at,
  ended_at,
  cost_usd,
  unpriced,
  ...row
}: RunRow): EvalRun => ({
  ...row,
  ...toCost({ cost_usd, unpriced }),
  status: ended_at === null ? "running" : "completed",
  scheduled_at: toSeconds(scheduled_at),
  started_at: toSeconds(started_at),
  ended_at: ended_at === null ? null : toSeconds(ended_at),
});

const toResult = ({
  case_id,
  answer_is_cut,
  erased,
  ended_at,
  cost_usd,
  unpriced,
  ...row
}: ResultRow): EvalCaseResult => ({
  ...row,
  ...toCost({ cost_usd, unpriced }),
  case: case_id,
  pass: row.outcome === "passed",
  answer_is_cut: answer_is_cut === 1,
  erased: erased === 1,
  ended_at: toSeconds(ended_at),
});
