-- Browsers that are signed in to the console.
CREATE TABLE sessions (
    id         TEXT   NOT NULL PRIMARY KEY, -- the hash of the secret in the cookie
    secrets    BYTEA  NOT NULL, -- the credential and what belongs to it, sealed
    renew_at   BIGINT NOT NULL, -- 0 for a credential that is not renewed
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expired ON sessions (expires_at);
