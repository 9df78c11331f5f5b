-- Keys of callers. The secrets are not kept.
CREATE TABLE api_keys (
    id         TEXT   NOT NULL PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    principal  TEXT   NOT NULL,
    groups     TEXT   NOT NULL, -- a JSON array
    scopes     TEXT   NOT NULL, -- a JSON array
    name       TEXT   NOT NULL, -- for people
    hash       BYTEA  NOT NULL, -- of the secret
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, -- 0 for never
    revoked_at BIGINT NOT NULL  -- 0 for one that was not
);
