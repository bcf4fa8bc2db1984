import { GRACE_MS } from "../../src/evals/suite-limits";
import { type CaseState, evolve, newRun, type RunEvent, type RunState } from "../../src/evals/run";
import type { EvalRunStart, KeptSuite } from "./eval-run-api";

const TABLES = [
  "CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
  // `saved`: whether D1 has the result.
  "CREATE TABLE IF NOT EXISTS cases (nth INTEGER PRIMARY KEY, state TEXT NOT NULL, saved INTEGER NOT NULL)",
  // Runs that are due with this one and have not begun.
  "CREATE TABLE IF NOT EXISTS others (nth INTEGER, key TEXT, value TEXT NOT NULL, PRIMARY KEY (nth, key)) WITHOUT ROWID",
];

/** A run as stored. `EvalRunStart` never changes; the cases change by events. */
export type StoredRun = EvalRunStart & { startedAt: number };

/** The storage of one run. Synchronous, so that related writes form one transaction. */
export class EvalRunStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The run; `null` before it began. */
  run(): StoredRun | null {
    const tables = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cases'";
    if (this.#sql.exec(tables).toArray().length === 0) return null;
    // A run that an earlier version began may lack tables.
    for (const table of TABLES) this.#sql.exec(table);
    const rows = this.#sql.exec<Part>("SELECT key, value FROM run").toArray();
    return fromRows<StoredRun>(rows);
  }

  /** Stores the run and its cases. To be called inside a transaction. */
  create(run: StoredRun): void {
    for (const table of TABLES) this.#sql.exec(table);
    for (const { key, value } of toRows(run))
      this.#sql.exec("INSERT INTO run (key, value) VALUES (?, ?)", key, value);
    for (const [nth, state] of initialState(run.suite, run.startedAt).cases.entries()) {
      this.#sql.exec(
        "INSERT INTO cases (nth, state, saved) VALUES (?, ?, 0)",
        nth,
        JSON.stringify(state),
      );
    }
  }

  /** Stores a run that is due with this one. To be called inside the transaction of `create`. */
  addOther(nth: number, run: EvalRunStart): void {
    for (const { key, value } of toRows(run))
      this.#sql.exec("INSERT INTO others VALUES (?, ?, ?)", nth, key, value);
  }

  /** Runs that this object is to start, by number. */
  others(): { nth: number; run: EvalRunStart }[] {
    const rows = this.#sql
      .exec<Part & { nth: number }>("SELECT nth, key, value FROM others ORDER BY nth")
      .toArray();
    const runs = Map.groupBy(rows, ({ nth }) => nth);
    return [...runs].map(([nth, parts]) => ({ nth, run: fromRows<EvalRunStart>(parts) }));
  }

  /** Removes a run that has started or was given up. */
  dropOther(nth: number): void {
    this.#sql.exec("DELETE FROM others WHERE nth = ?", nth);
  }

  /** The current state of the run. */
  state({ suite, startedAt }: StoredRun): RunState {
    const rows = this.#sql
      .exec<{ state: string }>("SELECT state FROM cases ORDER BY nth")
      .toArray();
    return {
      ...initialState(suite, startedAt),
      cases: rows.map(({ state }): CaseState => JSON.parse(state)),
    };
  }

  /** Stores the effect of an event on its case. */
  apply(run: StoredRun, event: RunEvent): void {
    const after = evolve(this.state(run), event).cases[event.nth];
    if (after)
      this.#sql.exec("UPDATE cases SET state = ? WHERE nth = ?", JSON.stringify(after), event.nth);
  }

  /** Indexes of cases that are done and not yet in D1. */
  unsaved(): number[] {
    const query =
      "SELECT nth FROM cases WHERE saved = 0 AND state ->> '$.status' = 'done' ORDER BY nth";
    return this.#sql
      .exec<{ nth: number }>(query)
      .toArray()
      .map(({ nth }) => nth);
  }

  /**
   * Records that D1 has the results of these cases. Deletes the local answers, so that an answer is
   * stored in one place only and can be erased there.
   */
  markSaved(caseIndexes: readonly number[]): void {
    const withoutAnswer = "json_set(state, '$.result.answer', NULL, '$.result.detail', '')";
    for (const nth of caseIndexes)
      this.#sql.exec(`UPDATE cases SET saved = 1, state = ${withoutAnswer} WHERE nth = ?`, nth);
    this.#sql.exec("INSERT OR REPLACE INTO run (key, value) VALUES ('listed', '1')");
  }

  /** Whether D1 has a row for this run. */
  isListed(): boolean {
    return this.#sql.exec("SELECT 1 FROM run WHERE key = 'listed'").toArray().length > 0;
  }
}

/** A part of a run. Each part has its own row, because a row is limited to 2 MB. */
type Part = { key: string; value: string };

const toRows = ({ suite, team, ...start }: EvalRunStart): Part[] =>
  Object.entries({ start, suite, team }).map(([key, part]) => ({
    key,
    value: JSON.stringify(part),
  }));

function fromRows<Run extends EvalRunStart>(rows: readonly Part[]): Run {
  const part = (name: string) => JSON.parse(rows.find(({ key }) => key === name)?.value ?? "");
  return { ...part("start"), suite: part("suite"), team: part("team") };
}

const initialState = (
  { cases, at_once, timeout_seconds }: KeptSuite,
  startedAt: number,
): RunState =>
  newRun({
    cases: cases.length,
    atOnce: at_once,
    caseLimitMs: timeout_seconds * 1000 + GRACE_MS,
    startedAt,
  });
