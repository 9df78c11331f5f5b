-- The tables of the read model, in SQL that SQLite and PostgreSQL both take.
-- Times are milliseconds since the epoch. A document is JSON; where a column
-- says the same as the document beside it, the column is newer. Text that is
-- not there is ''.

CREATE TABLE objectives (
    id         TEXT     NOT NULL PRIMARY KEY,
    tenant     TEXT     NOT NULL,
    context_id TEXT     NOT NULL,
    status     TEXT     NOT NULL,
    created_at BIGINT   NOT NULL,
    updated_at BIGINT   NOT NULL,
    seq        BIGINT   NOT NULL, -- of the last event
    attempt    BIGINT   NOT NULL,
    started    SMALLINT NOT NULL,
    reason     TEXT     NOT NULL,
    stopping   TEXT     NOT NULL,
    failure    TEXT     NOT NULL,
    principal  TEXT     NOT NULL,
    name       TEXT     NOT NULL,
    message_id TEXT     NOT NULL, -- of the message that began the attempt
    digest     TEXT     NOT NULL, -- of that message
    doc        TEXT     NOT NULL  -- opt.Objective as it was opened
);
CREATE INDEX objectives_by_time ON objectives (tenant, created_at, id);
CREATE INDEX objectives_by_status ON objectives (tenant, status, created_at, id);
CREATE INDEX objectives_by_context ON objectives (tenant, context_id, created_at, id);

CREATE TABLE plans (
    id           TEXT     NOT NULL PRIMARY KEY,
    objective_id TEXT     NOT NULL,
    tenant       TEXT     NOT NULL,
    position     BIGINT   NOT NULL, -- in its objective, from 0
    status       TEXT     NOT NULL,
    updated_at   BIGINT   NOT NULL,
    started      SMALLINT NOT NULL,
    reason       TEXT     NOT NULL,
    stopping     TEXT     NOT NULL,
    doc          TEXT     NOT NULL  -- opt.Plan as it was added, without its tasks
);
CREATE UNIQUE INDEX plans_in_order ON plans (objective_id, position);

-- Plan tasks, and the root tasks of objectives: one for each attempt.
CREATE TABLE tasks (
    id           TEXT     NOT NULL PRIMARY KEY,
    objective_id TEXT     NOT NULL,
    plan_id      TEXT     NOT NULL, -- '' for a root task
    idx          BIGINT   NOT NULL, -- in its plan, from 0; of a root task the attempt
    tenant       TEXT     NOT NULL,
    context_id   TEXT     NOT NULL,
    state        TEXT     NOT NULL, -- as opt has it
    shown        TEXT     NOT NULL, -- as A2A has it
    active       SMALLINT NOT NULL, -- 1 for a plan task that has begun and has not ended
    status_at    BIGINT   NOT NULL,
    status_seq   BIGINT   NOT NULL, -- of the event that first brought the status message
    status_id    TEXT     NOT NULL, -- of the status message
    attempt      BIGINT   NOT NULL, -- the highest seen
    reason       TEXT     NOT NULL,
    name         TEXT     NOT NULL,
    message_id   TEXT     NOT NULL, -- of the message that began a root task
    digest       TEXT     NOT NULL, -- of that message
    said         TEXT     NOT NULL, -- the status message, an a2a.Message
    gate         TEXT     NOT NULL, -- opt.Gate that is open
    dependencies TEXT     NOT NULL, -- list of task ids
    metadata     TEXT     NOT NULL, -- a2a.Metadata
    doc          TEXT     NOT NULL  -- opt.Task as it was added; '' for a root task
);
CREATE INDEX tasks_by_time ON tasks (tenant, status_at, id);
CREATE INDEX tasks_by_state ON tasks (tenant, shown, status_at, id);
CREATE INDEX tasks_by_context ON tasks (tenant, context_id, status_at, id);
CREATE INDEX tasks_in_plan ON tasks (objective_id, plan_id, idx);
CREATE INDEX tasks_active ON tasks (objective_id) WHERE active = 1;

-- What clients said, and what the agent said once it says something else.
CREATE TABLE messages (
    objective_id TEXT     NOT NULL,
    seq          BIGINT   NOT NULL, -- of the event that brought it
    task_id      TEXT     NOT NULL, -- that it is addressed to, or of which it was the status
    for_task     TEXT     NOT NULL, -- the plan task that a reply to a root task was for
    kind         TEXT     NOT NULL, -- opening, said or status
    kept         SMALLINT NOT NULL, -- 1 if it belongs to the history
    principal    TEXT     NOT NULL,
    message_id   TEXT     NOT NULL,
    digest       TEXT     NOT NULL,
    verdict      TEXT     NOT NULL,
    doc          TEXT     NOT NULL  -- a2a.Message
);
CREATE UNIQUE INDEX messages_once ON messages (objective_id, message_id, principal, task_id, kind);
CREATE INDEX messages_of_task ON messages (objective_id, task_id, seq);
CREATE INDEX messages_for_task ON messages (objective_id, for_task, seq) WHERE for_task <> '';

-- The pieces of artifacts. The first piece keeps its place when the artifact is
-- replaced; a piece that is appended is a row of its own.
CREATE TABLE artifacts (
    objective_id TEXT   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event that brought it, and its place
    task_id      TEXT   NOT NULL,
    root_id      TEXT   NOT NULL, -- the root task that shows it too
    artifact_id  TEXT   NOT NULL,
    doc          TEXT   NOT NULL, -- a2a.Artifact
    PRIMARY KEY (objective_id, task_id, artifact_id, seq)
);
CREATE INDEX artifacts_of_root ON artifacts (objective_id, root_id) WHERE root_id <> '';

CREATE TABLE events (
    objective_id TEXT   NOT NULL,
    seq          BIGINT NOT NULL,
    doc          TEXT   NOT NULL, -- opt.Event
    PRIMARY KEY (objective_id, seq)
);

-- How far each source has got, so that recording again changes nothing.
CREATE TABLE sources (
    objective_id TEXT   NOT NULL,
    source       TEXT   NOT NULL,
    n            BIGINT NOT NULL,
    PRIMARY KEY (objective_id, source)
);

CREATE TABLE keys (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL -- in hexadecimal
);
