-- Searches for objectives, and what ended lately.

-- Of opt.Text.Metadata, under opt.KeyPlanner.
ALTER TABLE objectives ADD COLUMN planner TEXT NOT NULL DEFAULT '';
-- for sqlite
UPDATE objectives SET planner = COALESCE(json(metadata) ->> 'longhaul/v1/planner', '') WHERE instr(metadata, '"longhaul/v1/planner"') > 0;
-- for postgres
-- PostgreSQL reads no document with a NUL or half of a surrogate pair in any of its strings,
-- so the value is cut out of one that may have them. Keys are sorted: what is nested under an
-- earlier key comes before it, so the last one is taken.
UPDATE objectives SET planner = COALESCE(CASE
		WHEN metadata !~ '\\u(0000|[dD][89a-fA-F])' THEN json(metadata) ->> 'longhaul/v1/planner'
		ELSE json(substring(metadata from '.*"longhaul/v1/planner":("(?:[^"\\]|\\["\\/bfnrt]|\\u(?!0000|[dD][89a-fA-F]))*")')) #>> '{}'
	END, '') WHERE instr(metadata, '"longhaul/v1/planner"') > 0;
-- for both

CREATE INDEX objectives_by_context ON objectives (tenant, context_id, created_at, id);
CREATE INDEX objectives_by_planner ON objectives (tenant, planner, created_at, id);

-- Attempts at objectives that have ended, by the time of their end.
CREATE INDEX tasks_ended_roots ON tasks (tenant, status_at, shown) WHERE length(plan_id) = 0 AND ended = 1;
