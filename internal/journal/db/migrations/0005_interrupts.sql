-- Plan tasks that wait for people, the longest wait first.
CREATE INDEX tasks_waiting ON tasks (tenant, status_at, id) WHERE gate <> '' AND plan_id <> '';
