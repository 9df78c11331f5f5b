-- Keys that sign deliveries.
CREATE TABLE signing_keys (
    id         TEXT   NOT NULL PRIMARY KEY,
    private    BYTEA  NOT NULL, -- sealed
    created_at BIGINT NOT NULL
);
