-- Runs of evaluation suites, and what came of their cases. Written by the run's Durable Object, which can write each row again:
-- the keys keep anything from being doubled. Times in unix ms.
CREATE TABLE eval_runs (
  tenant TEXT NOT NULL,
  suite TEXT NOT NULL,
  -- Sorts by time; the same for every ring of one cron minute.
  id TEXT NOT NULL,
  origin TEXT NOT NULL,
  scheduled_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  -- NULL while it runs.
  ended_at INTEGER,
  cases INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  errored INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  PRIMARY KEY (tenant, suite, id)
) WITHOUT ROWID;

-- A rowid table: answers are long, and the index over the key stays small.
CREATE TABLE eval_results (
  tenant TEXT NOT NULL,
  suite TEXT NOT NULL,
  run TEXT NOT NULL,
  -- Its place in the suite, from 0.
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
