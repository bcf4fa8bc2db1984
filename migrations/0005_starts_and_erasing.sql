-- How many requests may still make the session of this claim: as long as one may, the refusal of another takes nothing along.
-- One that was cut off is never counted down: nobody knows whether it made the session.
ALTER TABLE start_claims ADD COLUMN drivers INTEGER NOT NULL DEFAULT 1;

-- Whether the case's session has been erased since: then its answer and what was said of it are gone.
ALTER TABLE eval_results ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
CREATE INDEX eval_results_by_session ON eval_results (tenant, session_id);
