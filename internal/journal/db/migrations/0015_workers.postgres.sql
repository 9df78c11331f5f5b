-- What the workers that run now have taken from Temporal, so that another one gives it back when
-- one is lost. The lock of a lease says that its worker lives; kind '' is the lease itself.

CREATE TABLE worker_entries (
    lease INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    value BYTEA NOT NULL,
    PRIMARY KEY (lease, kind, value)
);
