-- Runs of evaluation suites, and the results of their cases. The run's Durable Object may write a
-- row twice: the primary keys prevent duplicates. Times in unix ms.
CREATE TABLE eval_runs (
  tenant TEXT NOT NULL,
  suite TEXT NOT NULL,
  -- Sorts by time. Repeated triggers of one cron minute have the same id.
  id TEXT NOT NULL,
  origin TEXT NOT NULL,
  scheduled_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  -- NULL while the run is in progress.
  ended_at INTEGER,
  cases INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  errored INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (tenant, suite, id)
) WITHOUT ROWID;

-- A rowid table, because answers are long: the index of the primary key stays small.
CREATE TABLE eval_results (
  tenant TEXT NOT NULL,
  suite TEXT NOT NULL,
  run TEXT NOT NULL,
  -- Position of the case in the suite, from 0.
  nth INTEGER NOT NULL,
  case_id TEXT NOT NULL,
  question TEXT NOT NULL,
  session_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL,
  answer TEXT,
  answer_is_cut INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  duration_ms REAL NOT NULL,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, suite, run, nth)
);
