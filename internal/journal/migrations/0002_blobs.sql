-- Payloads that are too large for workflow histories. They go with their
-- objective.

CREATE TABLE blobs (
    objective_id TEXT   NOT NULL,
    id           TEXT   NOT NULL, -- the digest of the data
    data         BYTEA  NOT NULL,
    PRIMARY KEY (objective_id, id)
);
