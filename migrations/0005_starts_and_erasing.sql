-- Number of requests that may still create the session of this claim. While it is above 0 after a
-- refusal, the refused request deletes nothing. An interrupted request is never subtracted: it may
-- have created the session.
ALTER TABLE start_claims ADD COLUMN drivers INTEGER NOT NULL DEFAULT 1;

-- 1: the session of the case was erased, with its answer and the details of its grading.
ALTER TABLE eval_results ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
CREATE INDEX eval_results_by_session ON eval_results (tenant, session_id);
