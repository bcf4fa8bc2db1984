-- 0008_secrets.sql has the same number. That is harmless: D1 identifies migrations by file name.

-- `cost_usd` covers calls with a known price. 1: other calls exist, so the total cost is unknown.
ALTER TABLE eval_runs ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE eval_results ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
