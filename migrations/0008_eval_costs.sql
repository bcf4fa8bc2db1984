-- `cost_usd` is the part of a cost that has a known price. 1: there is another part, so the whole cost is unknown.
ALTER TABLE eval_runs ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE eval_results ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
