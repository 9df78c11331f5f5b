-- Searches for objectives, and what ended lately.

-- Of opt.Text.Metadata, under opt.KeyPlanner.
ALTER TABLE objectives ADD COLUMN planner TEXT NOT NULL DEFAULT '';
UPDATE objectives SET planner = COALESCE(json(metadata) ->> 'longhaul/v1/planner', '') WHERE instr(metadata, '"longhaul/v1/planner"') > 0;

CREATE INDEX objectives_by_context ON objectives (tenant, context_id, created_at, id);
CREATE INDEX objectives_by_planner ON objectives (tenant, planner, created_at, id);

-- Attempts at objectives that have ended, by the time of their end.
CREATE INDEX tasks_ended_roots ON tasks (tenant, status_at, shown) WHERE length(plan_id) = 0 AND ended = 1;
