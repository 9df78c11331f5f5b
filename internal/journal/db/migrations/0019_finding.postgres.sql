-- Lists of objectives by who asked for them and by their latest changes, and the tasks that have
-- failed, by time.

CREATE INDEX objectives_by_principal ON objectives (tenant, principal, created_at, id);
CREATE INDEX objectives_by_change ON objectives (tenant, updated_at, id);
CREATE INDEX tasks_failed ON tasks (tenant, status_at, reason) WHERE length(plan_id) > 0 AND state IN ('failed', 'rejected');
