-- Objectives that wait for their turn in their context, and those they wait for.

ALTER TABLE objectives ADD COLUMN queued_at BIGINT NOT NULL DEFAULT 0; -- 0 for one that does not wait
CREATE INDEX objectives_queued ON objectives (tenant, context_id, queued_at, id) WHERE queued_at <> 0;
CREATE INDEX objectives_busy ON objectives (tenant, context_id, created_at, id) 
    WHERE status IN ('planning', 'working', 'blocked') OR status = 'submitted' AND queued_at = 0 AND attempt = 1 AND message_id <> '';
