-- The tables of the read model, in SQL that SQLite and PostgreSQL both take.
-- Events bring the values of the columns: nothing here is worked out in SQL.
-- Times are milliseconds since the epoch. A document is JSON, and holds what has
-- no column of its own. Text that is not there is ''.

CREATE TABLE objectives (
    id          TEXT     NOT NULL PRIMARY KEY,
    tenant      TEXT     NOT NULL,
    context_id  TEXT     NOT NULL,
    principal   TEXT     NOT NULL,
    message_id  TEXT     NOT NULL, -- of the message that began it
    digest      TEXT     NOT NULL, -- of that message
    created_at  BIGINT   NOT NULL,
    given       TEXT     NOT NULL, -- list of opt.PlanSpec: plans that came with that message
    doc         TEXT     NOT NULL, -- opt.Objective as it was opened
    -- opt.ObjectiveHead
    status      TEXT     NOT NULL,
    reason      TEXT     NOT NULL,
    failure     TEXT     NOT NULL,
    stopping    TEXT     NOT NULL,
    started     SMALLINT NOT NULL,
    paused      SMALLINT NOT NULL,
    queued_at   BIGINT   NOT NULL, -- 0 for one that does not wait for its turn in its context
    attempt     BIGINT   NOT NULL,
    revision    BIGINT   NOT NULL,
    begun       SMALLINT NOT NULL, -- 1 for one that has begun, or is about to
    ended       SMALLINT NOT NULL, -- 1 once the attempt has ended
    -- opt.Text
    name        TEXT     NOT NULL,
    description TEXT     NOT NULL,
    metadata    TEXT     NOT NULL, -- a2a.Metadata

    seq         BIGINT   NOT NULL, -- of the last event
    updated_at  BIGINT   NOT NULL,
    asked_at    BIGINT   NOT NULL  -- when a new attempt was last asked for, which counts as a change
);
CREATE INDEX objectives_by_time ON objectives (tenant, created_at, id);
CREATE INDEX objectives_by_status ON objectives (tenant, status, created_at, id);
CREATE INDEX objectives_queued ON objectives (tenant, context_id, queued_at, id) WHERE queued_at <> 0;
CREATE INDEX objectives_busy ON objectives (tenant, context_id, created_at, id) WHERE begun = 1 AND ended = 0 AND queued_at = 0;
CREATE INDEX objectives_ended ON objectives (updated_at, id) WHERE ended = 1;

CREATE TABLE plans (
    id           TEXT     NOT NULL PRIMARY KEY,
    objective_id TEXT     NOT NULL,
    tenant       TEXT     NOT NULL,
    position     BIGINT   NOT NULL, -- in its objective, from 0
    doc          TEXT     NOT NULL, -- opt.Plan as it was added, without its tasks
    -- opt.PlanHead
    status       TEXT     NOT NULL,
    reason       TEXT     NOT NULL,
    stopping     TEXT     NOT NULL,
    started      SMALLINT NOT NULL,
    paused       SMALLINT NOT NULL,
    run          BIGINT   NOT NULL,
    -- opt.Text
    name         TEXT     NOT NULL,
    description  TEXT     NOT NULL,
    metadata     TEXT     NOT NULL, -- a2a.Metadata
    dependencies TEXT     NOT NULL, -- list of plan ids

    updated_at   BIGINT   NOT NULL
);
CREATE UNIQUE INDEX plans_in_order ON plans (objective_id, position);

-- Plan tasks, one for each attempt at a task, and the root tasks of objectives,
-- one for each attempt at the objective.
CREATE TABLE tasks (
    id           TEXT     NOT NULL PRIMARY KEY, -- of the A2A task
    objective_id TEXT     NOT NULL,
    plan_id      TEXT     NOT NULL, -- '' for a root task
    idx          BIGINT   NOT NULL, -- in its plan, from 0; of a root task the attempt
    tenant       TEXT     NOT NULL,
    context_id   TEXT     NOT NULL,
    name         TEXT     NOT NULL, -- '' for a root task, which goes by the name of its objective
    message_id   TEXT     NOT NULL, -- of the message that began a root task
    digest       TEXT     NOT NULL, -- of that message
    dependencies TEXT     NOT NULL, -- list of task ids
    metadata     TEXT     NOT NULL, -- a2a.Metadata
    doc          TEXT     NOT NULL, -- opt.Task as it was added; '' for a root task
    link         TEXT     NOT NULL, -- the A2A task that stands in for it
    follow       SMALLINT NOT NULL, -- 1 if that is a task of ours

    state        TEXT     NOT NULL, -- as opt has it
    shown        TEXT     NOT NULL, -- as A2A has it
    active       SMALLINT NOT NULL, -- 1 for a plan task that has begun and has not ended
    ended        SMALLINT NOT NULL,
    reason       TEXT     NOT NULL,
    attempt      BIGINT   NOT NULL, -- as it is shown
    fence        BIGINT   NOT NULL, -- the highest opt.Event.Fence seen
    status_at    BIGINT   NOT NULL, -- since when it is in its state
    status_seq   BIGINT   NOT NULL, -- of the event that first brought the status message
    status_id    TEXT     NOT NULL, -- of the status message
    said         TEXT     NOT NULL, -- the status message, an a2a.Message
    gate         TEXT     NOT NULL  -- opt.Gate that is open
);
CREATE INDEX tasks_by_time ON tasks (tenant, status_at, id);
CREATE INDEX tasks_by_state ON tasks (tenant, shown, status_at, id);
CREATE INDEX tasks_by_context ON tasks (tenant, context_id, status_at, id);
CREATE INDEX tasks_in_plan ON tasks (objective_id, plan_id, idx);
CREATE INDEX tasks_active ON tasks (objective_id) WHERE active = 1;
CREATE INDEX tasks_linked ON tasks (objective_id) WHERE follow = 1;

-- What clients said, and what the agent said once it says something else.
CREATE TABLE messages (
    objective_id TEXT     NOT NULL,
    seq          BIGINT   NOT NULL, -- of the event that brought it
    task_id      TEXT     NOT NULL, -- that it is addressed to, or of which it was the status
    for_task     TEXT     NOT NULL, -- the plan task that a reply to a root task was for
    kind         TEXT     NOT NULL, -- opening, said or status
    kept         SMALLINT NOT NULL, -- 1 if it belongs to the history
    principal    TEXT     NOT NULL,
    message_id   TEXT     NOT NULL, -- or the key of its letter
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

-- The events that hold the answers to commands.
CREATE TABLE answers (
    objective_id TEXT   NOT NULL,
    command_id   TEXT   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event
    PRIMARY KEY (objective_id, command_id)
);

-- What each source has recorded, so that recording again changes nothing and
-- other content under a known number is found out. A row holds some numbers that
-- follow on each other, the last row of a source its latest.
CREATE TABLE sources (
    objective_id TEXT   NOT NULL,
    source       TEXT   NOT NULL,
    first        BIGINT NOT NULL, -- number
    digests      BYTEA  NOT NULL, -- of the events from first on, 16 bytes each, those that came too late as well
    PRIMARY KEY (objective_id, source, first)
);

-- Places in the contexts of attempts that are about to begin. A place counts until
-- the row of its objective tells more, and not for long.
CREATE TABLE places (
    objective_id TEXT   NOT NULL,
    attempt      BIGINT NOT NULL,
    tenant       TEXT   NOT NULL,
    context_id   TEXT   NOT NULL,
    taken_at     BIGINT NOT NULL,
    queued_at    BIGINT NOT NULL, -- 0 for one that begins at once
    PRIMARY KEY (objective_id, attempt)
);
CREATE INDEX places_in_context ON places (tenant, context_id, taken_at);
CREATE INDEX places_by_time ON places (taken_at);

-- Payloads that are too large for workflow histories. They go with their
-- objective.
CREATE TABLE blobs (
    objective_id TEXT  NOT NULL,
    id           TEXT  NOT NULL, -- the digest of the data
    data         BYTEA NOT NULL,
    PRIMARY KEY (objective_id, id)
);

CREATE TABLE keys (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL -- in hexadecimal
);

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

-- One row at the most: written to find out whether there is room.
CREATE TABLE probes (
    id   BIGINT NOT NULL PRIMARY KEY,
    room BYTEA  NOT NULL
);
