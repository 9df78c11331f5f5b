-- The tables of the read model.
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
    asked_at    BIGINT   NOT NULL, -- when a new attempt was last asked for, which counts as a change
    planner     TEXT     NOT NULL, -- of opt.Text.Metadata, under opt.KeyPlanner
    pushes      BIGINT   NOT NULL, -- configs of its tasks
    bytes       BIGINT   NOT NULL, -- of its events and blobs; only grows
    epochs      TEXT     NOT NULL DEFAULT '', -- latest epochs by the names of sources; '' for none but first ones
    stuck       TEXT     NOT NULL DEFAULT '', -- opt.Stuck; '' for an objective that records
    shapers     TEXT     NOT NULL DEFAULT ''  -- other principals who shaped the work; '' for none
);
CREATE INDEX objectives_by_time ON objectives (tenant, created_at, id);
CREATE INDEX objectives_by_status ON objectives (tenant, status, created_at, id);
CREATE INDEX objectives_by_context ON objectives (tenant, context_id, created_at, id);
CREATE INDEX objectives_by_planner ON objectives (tenant, planner, created_at, id);
CREATE INDEX objectives_open ON objectives (tenant, status) WHERE ended = 0;
CREATE INDEX objectives_queued ON objectives (tenant, context_id, queued_at, id) WHERE queued_at <> 0;
CREATE INDEX objectives_busy ON objectives (tenant, context_id, created_at, id) WHERE begun = 1 AND ended = 0 AND queued_at = 0;
CREATE INDEX objectives_ended ON objectives (updated_at, id) WHERE ended = 1;
CREATE INDEX objectives_stuck ON objectives (id) WHERE stuck <> '';

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
    gate         TEXT     NOT NULL,  -- opt.Gate that is open
    decided      TEXT     NOT NULL DEFAULT ''  -- opt.Decided: how its latest gate was closed
);
CREATE INDEX tasks_by_time ON tasks (tenant, status_at, id);
CREATE INDEX tasks_by_state ON tasks (tenant, shown, status_at, id);
CREATE INDEX tasks_by_context ON tasks (tenant, context_id, status_at, id);
CREATE INDEX tasks_in_plan ON tasks (objective_id, plan_id, idx);
CREATE INDEX tasks_open ON tasks (tenant, shown) WHERE ended = 0;
CREATE INDEX tasks_active ON tasks (objective_id) WHERE active = 1;
CREATE INDEX tasks_linked ON tasks (objective_id) WHERE follow = 1;
-- Plan tasks that wait for people, the longest wait first.
CREATE INDEX tasks_waiting ON tasks (tenant, status_at, id) WHERE gate <> '' AND plan_id <> '';
-- Attempts at objectives that have ended, by the time of their end.
CREATE INDEX tasks_ended_roots ON tasks (tenant, status_at, shown) WHERE length(plan_id) = 0 AND ended = 1;

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

-- Push configs, and below the deliveries to them.
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

-- States of tasks on their way to the URLs of configs, and notices about gates on their way to
-- channels, for which config_id stands.
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
    notice       TEXT   NOT NULL DEFAULT '', -- opt.NoticeKind; '' for a state
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

-- The decisions at gates, in chains.
CREATE TABLE decisions (
    objective_id TEXT   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event that brought it
    plan_id      TEXT   NOT NULL,
    attempt      BIGINT NOT NULL, -- at the plan
    n            BIGINT NOT NULL, -- in the chain of the attempt
    doc          TEXT   NOT NULL, -- opt.Decision
    epoch        BIGINT NOT NULL, -- of the plan; 0 for the first
    PRIMARY KEY (objective_id, seq)
);
CREATE INDEX decisions_in_chain ON decisions (objective_id, plan_id, attempt, n);

-- The gates that notices are about.
CREATE TABLE notices (
    objective_id TEXT   NOT NULL,
    n            BIGINT NOT NULL, -- of the event, as in deliveries
    gate         TEXT   NOT NULL, -- opt.Gate at that moment, as clients see it
    PRIMARY KEY (objective_id, n)
);

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

-- Keys that sign deliveries.
CREATE TABLE signing_keys (
    id         TEXT   NOT NULL PRIMARY KEY,
    private    BYTEA  NOT NULL, -- sealed
    created_at BIGINT NOT NULL
);

-- Browsers that are signed in to the console.
CREATE TABLE sessions (
    id         TEXT   NOT NULL PRIMARY KEY, -- the hash of the secret in the cookie
    secrets    BYTEA  NOT NULL, -- the credential and what belongs to it, sealed
    renew_at   BIGINT NOT NULL, -- 0 for a credential that is not renewed
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expired ON sessions (expires_at);

-- Notices that a tenant has sent in the last hour.
CREATE TABLE notice_places (
    tenant   TEXT   NOT NULL,
    delivery TEXT   NOT NULL, -- its id
    at       BIGINT NOT NULL,
    PRIMARY KEY (tenant, delivery)
);

-- How many tasks and objectives of a tenant have ended, by state, so that lists need not
-- count them each time. Open ones are counted. Triggers keep the numbers.

CREATE TABLE tallies (
    tenant  TEXT   NOT NULL,
    subject TEXT   NOT NULL, -- tasks, objectives or blocks
    state   TEXT   NOT NULL, -- tasks.shown, objectives.status, or ''
    n       BIGINT NOT NULL,
    PRIMARY KEY (tenant, subject, state)
);

-- Changes of tallies. In PostgreSQL writers only add rows here, so that none waits for
-- another, and the numbers are folded into tallies later. SQLite has one writer and does
-- not need it.
CREATE TABLE tally_changes (
    tenant  TEXT   NOT NULL,
    subject TEXT   NOT NULL,
    state   TEXT   NOT NULL,
    n       BIGINT NOT NULL
);
CREATE INDEX tally_changes_by_state ON tally_changes (tenant, subject, state);

CREATE TRIGGER tasks_counted AFTER INSERT ON tasks WHEN NEW.ended = 1
BEGIN
    INSERT INTO tallies (tenant, subject, state, n) VALUES (NEW.tenant, 'tasks', NEW.shown, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER tasks_uncounted AFTER DELETE ON tasks WHEN OLD.ended = 1
BEGIN
    UPDATE tallies SET n = n - 1 WHERE tenant = OLD.tenant AND subject = 'tasks' AND state = OLD.shown;
END;
CREATE TRIGGER tasks_recounted AFTER UPDATE OF shown, ended ON tasks
    WHEN (OLD.shown <> NEW.shown OR OLD.ended <> NEW.ended) AND (OLD.ended = 1 OR NEW.ended = 1)
BEGIN
    UPDATE tallies SET n = n - 1 WHERE OLD.ended = 1 AND tenant = OLD.tenant AND subject = 'tasks' AND state = OLD.shown;
    INSERT INTO tallies (tenant, subject, state, n) SELECT NEW.tenant, 'tasks', NEW.shown, 1
        WHERE NEW.ended = 1 ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER objectives_counted AFTER INSERT ON objectives WHEN NEW.ended = 1
BEGIN
    INSERT INTO tallies (tenant, subject, state, n) VALUES (NEW.tenant, 'objectives', NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER objectives_uncounted AFTER DELETE ON objectives WHEN OLD.ended = 1
BEGIN
    UPDATE tallies SET n = n - 1 WHERE tenant = OLD.tenant AND subject = 'objectives' AND state = OLD.status;
END;
CREATE TRIGGER objectives_recounted AFTER UPDATE OF status, ended ON objectives
    WHEN (OLD.status <> NEW.status OR OLD.ended <> NEW.ended) AND (OLD.ended = 1 OR NEW.ended = 1)
BEGIN
    UPDATE tallies SET n = n - 1 WHERE OLD.ended = 1 AND tenant = OLD.tenant AND subject = 'objectives' AND state = OLD.status;
    INSERT INTO tallies (tenant, subject, state, n) SELECT NEW.tenant, 'objectives', NEW.status, 1
        WHERE NEW.ended = 1 ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- The tally of blocks of 16 KiB that the objectives of a tenant fill, each at least a part of
-- one. So most events change no tally.

CREATE TRIGGER blocks_counted AFTER INSERT ON objectives
BEGIN
    INSERT INTO tallies (tenant, subject, state, n) VALUES (NEW.tenant, 'blocks', '', NEW.bytes / 16384 + 1)
        ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER blocks_recounted AFTER UPDATE OF bytes ON objectives WHEN OLD.bytes / 16384 <> NEW.bytes / 16384
BEGIN
    UPDATE tallies SET n = n + NEW.bytes / 16384 - OLD.bytes / 16384 WHERE tenant = NEW.tenant AND subject = 'blocks' AND state = '';
END;
CREATE TRIGGER blocks_uncounted AFTER DELETE ON objectives
BEGIN
    UPDATE tallies SET n = n - OLD.bytes / 16384 - 1 WHERE tenant = OLD.tenant AND subject = 'blocks' AND state = '';
END;
