-- Push configs and the deliveries to them.

ALTER TABLE objectives ADD COLUMN pushes BIGINT NOT NULL DEFAULT 0; -- configs of its tasks

CREATE TABLE push_configs (
    objective_id TEXT     NOT NULL,
    task_id      TEXT     NOT NULL,
    id           TEXT     NOT NULL,
    tenant       TEXT     NOT NULL,
    pending      SMALLINT NOT NULL, -- 1 while its task is about to begin: it is shown to nobody
    principal    TEXT     NOT NULL,
    version      TEXT     NOT NULL, -- of the protocol
    states       TEXT     NOT NULL, -- opt.PushSet
    url          TEXT     NOT NULL,
    scheme       TEXT     NOT NULL,
    secrets      BYTEA    NOT NULL, -- sealed; empty for none
    fingerprint  TEXT     NOT NULL, -- of the token
    created_at   BIGINT   NOT NULL,
    PRIMARY KEY (objective_id, task_id, id)
);
CREATE INDEX push_configs_pending ON push_configs (created_at) WHERE pending = 1;

-- States of tasks on their way to the URLs of configs.
CREATE TABLE deliveries (
    objective_id TEXT   NOT NULL,
    task_id      TEXT   NOT NULL,
    config_id    TEXT   NOT NULL,
    n            BIGINT NOT NULL, -- of the event that brought the state
    state        TEXT   NOT NULL, -- as A2A has it
    at           BIGINT NOT NULL,
    gate_kind    TEXT   NOT NULL,
    gate_id      TEXT   NOT NULL,
    status       TEXT   NOT NULL,
    since        BIGINT NOT NULL, -- when it became due
    tries        BIGINT NOT NULL,
    handed_at    BIGINT NOT NULL, -- when it was last handed over to be delivered; 0 for never
    PRIMARY KEY (objective_id, task_id, config_id, n)
);
CREATE INDEX deliveries_due ON deliveries (handed_at, task_id, config_id, n) WHERE status = 'due';

-- The latest attempts at deliveries.
CREATE TABLE attempts (
    objective_id TEXT   NOT NULL,
    task_id      TEXT   NOT NULL,
    config_id    TEXT   NOT NULL,
    n            BIGINT NOT NULL, -- of the delivery
    try          BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    http         BIGINT NOT NULL, -- status; 0 for none
    error        TEXT   NOT NULL, -- a class; '' for none
    PRIMARY KEY (objective_id, task_id, config_id, n, try)
);
