-- Finds the plans that are open though their objectives have ended.

CREATE INDEX plans_open ON plans (objective_id) WHERE started = 1 AND status NOT IN ('completed', 'failed', 'skipped');
