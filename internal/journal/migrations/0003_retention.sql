-- What has ended is removed after a time.

-- When a new attempt was last asked for. It counts as a change, so that the
-- objective is still there when the attempt begins.
ALTER TABLE objectives ADD COLUMN asked_at BIGINT NOT NULL DEFAULT 0;

CREATE INDEX objectives_ended ON objectives (updated_at, id) WHERE status IN ('completed', 'failed', 'canceled');

-- Objectives that were removed, and have rows left in other tables. Nobody is
-- shown those.
CREATE TABLE leftovers (
    objective_id TEXT NOT NULL PRIMARY KEY
);

-- One row: how many transactions have removed something.
CREATE TABLE purges (
    n BIGINT NOT NULL
);
INSERT INTO purges (n) VALUES (0);
