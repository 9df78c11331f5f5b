-- The tables of the read model.
-- Events bring the values of the columns: nothing here is worked out in SQL.
-- Texts are compared byte by byte, as in SQLite and Go: pages and keys depend on it.
-- Times are milliseconds since the epoch. A document is JSON, and holds what has
-- no column of its own. Text that is not there is ''.

CREATE TABLE objectives (
    id          TEXT COLLATE "C"     NOT NULL PRIMARY KEY,
    tenant      TEXT COLLATE "C"     NOT NULL,
    context_id  TEXT COLLATE "C"     NOT NULL,
    principal   TEXT COLLATE "C"     NOT NULL,
    message_id  TEXT COLLATE "C"     NOT NULL, -- of the message that began it
    digest      TEXT COLLATE "C"     NOT NULL, -- of that message
    created_at  BIGINT   NOT NULL,
    given       TEXT COLLATE "C"     NOT NULL, -- list of opt.PlanSpec: plans that came with that message
    doc         TEXT COLLATE "C"     NOT NULL, -- opt.Objective as it was opened
    -- opt.ObjectiveHead
    status      TEXT COLLATE "C"     NOT NULL,
    reason      TEXT COLLATE "C"     NOT NULL,
    failure     TEXT COLLATE "C"     NOT NULL,
    stopping    TEXT COLLATE "C"     NOT NULL,
    started     SMALLINT NOT NULL,
    paused      SMALLINT NOT NULL,
    queued_at   BIGINT   NOT NULL, -- 0 for one that does not wait for its turn in its context
    attempt     BIGINT   NOT NULL,
    revision    BIGINT   NOT NULL,
    begun       SMALLINT NOT NULL, -- 1 for one that has begun, or is about to
    ended       SMALLINT NOT NULL, -- 1 once the attempt has ended
    -- opt.Text
    name        TEXT COLLATE "C"     NOT NULL,
    description TEXT COLLATE "C"     NOT NULL,
    metadata    TEXT COLLATE "C"     NOT NULL, -- a2a.Metadata

    seq         BIGINT   NOT NULL, -- of the last event
    updated_at  BIGINT   NOT NULL,
    asked_at    BIGINT   NOT NULL, -- when a new attempt was last asked for, which counts as a change
    planner     TEXT COLLATE "C"     NOT NULL, -- of opt.Text.Metadata, under opt.KeyPlanner
    pushes      BIGINT   NOT NULL, -- configs of its tasks
    bytes       BIGINT   NOT NULL, -- of its events and blobs; only grows
    epochs      TEXT COLLATE "C"     NOT NULL DEFAULT '', -- latest epochs by the names of sources; '' for none but first ones
    stuck       TEXT COLLATE "C"     NOT NULL DEFAULT '', -- opt.Stuck; '' for an objective that records
    shapers     TEXT COLLATE "C"     NOT NULL DEFAULT ''  -- other principals who shaped the work; '' for none
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
    id           TEXT COLLATE "C"     NOT NULL PRIMARY KEY,
    objective_id TEXT COLLATE "C"     NOT NULL,
    tenant       TEXT COLLATE "C"     NOT NULL,
    position     BIGINT   NOT NULL, -- in its objective, from 0
    doc          TEXT COLLATE "C"     NOT NULL, -- opt.Plan as it was added, without its tasks
    -- opt.PlanHead
    status       TEXT COLLATE "C"     NOT NULL,
    reason       TEXT COLLATE "C"     NOT NULL,
    stopping     TEXT COLLATE "C"     NOT NULL,
    started      SMALLINT NOT NULL,
    paused       SMALLINT NOT NULL,
    run          BIGINT   NOT NULL,
    -- opt.Text
    name         TEXT COLLATE "C"     NOT NULL,
    description  TEXT COLLATE "C"     NOT NULL,
    metadata     TEXT COLLATE "C"     NOT NULL, -- a2a.Metadata
    dependencies TEXT COLLATE "C"     NOT NULL, -- list of plan ids

    updated_at   BIGINT   NOT NULL
);
CREATE UNIQUE INDEX plans_in_order ON plans (objective_id, position);

-- Plan tasks, one for each attempt at a task, and the root tasks of objectives,
-- one for each attempt at the objective.
CREATE TABLE tasks (
    id           TEXT COLLATE "C"     NOT NULL PRIMARY KEY, -- of the A2A task
    objective_id TEXT COLLATE "C"     NOT NULL,
    plan_id      TEXT COLLATE "C"     NOT NULL, -- '' for a root task
    idx          BIGINT   NOT NULL, -- in its plan, from 0; of a root task the attempt
    tenant       TEXT COLLATE "C"     NOT NULL,
    context_id   TEXT COLLATE "C"     NOT NULL,
    name         TEXT COLLATE "C"     NOT NULL, -- '' for a root task, which goes by the name of its objective
    message_id   TEXT COLLATE "C"     NOT NULL, -- of the message that began a root task
    digest       TEXT COLLATE "C"     NOT NULL, -- of that message
    dependencies TEXT COLLATE "C"     NOT NULL, -- list of task ids
    metadata     TEXT COLLATE "C"     NOT NULL, -- a2a.Metadata
    doc          TEXT COLLATE "C"     NOT NULL, -- opt.Task as it was added; '' for a root task
    link         TEXT COLLATE "C"     NOT NULL, -- the A2A task that stands in for it
    follow       SMALLINT NOT NULL, -- 1 if that is a task of ours

    state        TEXT COLLATE "C"     NOT NULL, -- as opt has it
    shown        TEXT COLLATE "C"     NOT NULL, -- as A2A has it
    active       SMALLINT NOT NULL, -- 1 for a plan task that has begun and has not ended
    ended        SMALLINT NOT NULL,
    reason       TEXT COLLATE "C"     NOT NULL,
    attempt      BIGINT   NOT NULL, -- as it is shown
    fence        BIGINT   NOT NULL, -- the highest opt.Event.Fence seen
    status_at    BIGINT   NOT NULL, -- since when it is in its state
    status_seq   BIGINT   NOT NULL, -- of the event that first brought the status message
    status_id    TEXT COLLATE "C"     NOT NULL, -- of the status message
    said         TEXT COLLATE "C"     NOT NULL, -- the status message, an a2a.Message
    gate         TEXT COLLATE "C"     NOT NULL,  -- opt.Gate that is open
    decided      TEXT COLLATE "C"     NOT NULL DEFAULT ''  -- opt.Decided: how its latest gate was closed
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
    objective_id TEXT COLLATE "C"     NOT NULL,
    seq          BIGINT   NOT NULL, -- of the event that brought it
    task_id      TEXT COLLATE "C"     NOT NULL, -- that it is addressed to, or of which it was the status
    for_task     TEXT COLLATE "C"     NOT NULL, -- the plan task that a reply to a root task was for
    kind         TEXT COLLATE "C"     NOT NULL, -- opening, said or status
    kept         SMALLINT NOT NULL, -- 1 if it belongs to the history
    principal    TEXT COLLATE "C"     NOT NULL,
    message_id   TEXT COLLATE "C"     NOT NULL, -- or the key of its letter
    digest       TEXT COLLATE "C"     NOT NULL,
    verdict      TEXT COLLATE "C"     NOT NULL,
    doc          TEXT COLLATE "C"     NOT NULL  -- a2a.Message
);
CREATE UNIQUE INDEX messages_once ON messages (objective_id, message_id, principal, task_id, kind);
CREATE INDEX messages_of_task ON messages (objective_id, task_id, seq);
CREATE INDEX messages_for_task ON messages (objective_id, for_task, seq) WHERE for_task <> '';

-- The pieces of artifacts. The first piece keeps its place when the artifact is
-- replaced; a piece that is appended is a row of its own.
CREATE TABLE artifacts (
    objective_id TEXT COLLATE "C"   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event that brought it, and its place
    task_id      TEXT COLLATE "C"   NOT NULL,
    root_id      TEXT COLLATE "C"   NOT NULL, -- the root task that shows it too
    artifact_id  TEXT COLLATE "C"   NOT NULL,
    doc          TEXT COLLATE "C"   NOT NULL, -- a2a.Artifact
    PRIMARY KEY (objective_id, task_id, artifact_id, seq)
);
CREATE INDEX artifacts_of_root ON artifacts (objective_id, root_id) WHERE root_id <> '';

CREATE TABLE events (
    objective_id TEXT COLLATE "C"   NOT NULL,
    seq          BIGINT NOT NULL,
    doc          TEXT COLLATE "C"   NOT NULL, -- opt.Event
    PRIMARY KEY (objective_id, seq)
);

-- The events that hold the answers to commands.
CREATE TABLE answers (
    objective_id TEXT COLLATE "C"   NOT NULL,
    command_id   TEXT COLLATE "C"   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event
    PRIMARY KEY (objective_id, command_id)
);

-- What each source has recorded, so that recording again changes nothing and
-- other content under a known number is found out. A row holds some numbers that
-- follow on each other, the last row of a source its latest.
CREATE TABLE sources (
    objective_id TEXT COLLATE "C"   NOT NULL,
    source       TEXT COLLATE "C"   NOT NULL,
    first        BIGINT NOT NULL, -- number
    digests      BYTEA  NOT NULL, -- of the events from first on, 16 bytes each, those that came too late as well
    PRIMARY KEY (objective_id, source, first)
);

-- Places in the contexts of attempts that are about to begin. A place counts until
-- the row of its objective tells more, and not for long.
CREATE TABLE places (
    objective_id TEXT COLLATE "C"   NOT NULL,
    attempt      BIGINT NOT NULL,
    tenant       TEXT COLLATE "C"   NOT NULL,
    context_id   TEXT COLLATE "C"   NOT NULL,
    taken_at     BIGINT NOT NULL,
    queued_at    BIGINT NOT NULL, -- 0 for one that begins at once
    PRIMARY KEY (objective_id, attempt)
);
CREATE INDEX places_in_context ON places (tenant, context_id, taken_at);
CREATE INDEX places_by_time ON places (taken_at);

-- Payloads that are too large for workflow histories. They go with their
-- objective.
CREATE TABLE blobs (
    objective_id TEXT COLLATE "C"  NOT NULL,
    id           TEXT COLLATE "C"  NOT NULL, -- the digest of the data
    data         BYTEA NOT NULL,
    PRIMARY KEY (objective_id, id)
);

CREATE TABLE keys (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL -- in hexadecimal
);

-- Objectives that were removed, and have rows left in other tables. Nobody is
-- shown those.
CREATE TABLE leftovers (
    objective_id TEXT COLLATE "C" NOT NULL PRIMARY KEY
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
    objective_id TEXT COLLATE "C"     NOT NULL,
    task_id      TEXT COLLATE "C"     NOT NULL,
    id           TEXT COLLATE "C"     NOT NULL,
    tenant       TEXT COLLATE "C"     NOT NULL,
    pending      SMALLINT NOT NULL, -- 1 while its task is about to begin: it is shown to nobody
    principal    TEXT COLLATE "C"     NOT NULL,
    version      TEXT COLLATE "C"     NOT NULL, -- of the protocol
    states       TEXT COLLATE "C"     NOT NULL, -- opt.PushSet
    url          TEXT COLLATE "C"     NOT NULL,
    scheme       TEXT COLLATE "C"     NOT NULL,
    secrets      BYTEA    NOT NULL, -- sealed; empty for none
    fingerprint  TEXT COLLATE "C"     NOT NULL, -- of the token
    created_at   BIGINT   NOT NULL,
    PRIMARY KEY (objective_id, task_id, id)
);
CREATE INDEX push_configs_pending ON push_configs (created_at) WHERE pending = 1;

-- States of tasks on their way to the URLs of configs, and notices about gates on their way to
-- channels, for which config_id stands.
CREATE TABLE deliveries (
    objective_id TEXT COLLATE "C"   NOT NULL,
    task_id      TEXT COLLATE "C"   NOT NULL,
    config_id    TEXT COLLATE "C"   NOT NULL,
    n            BIGINT NOT NULL, -- of the event that brought the state
    state        TEXT COLLATE "C"   NOT NULL, -- as A2A has it
    at           BIGINT NOT NULL,
    gate_kind    TEXT COLLATE "C"   NOT NULL,
    gate_id      TEXT COLLATE "C"   NOT NULL,
    status       TEXT COLLATE "C"   NOT NULL,
    since        BIGINT NOT NULL, -- when it became due
    tries        BIGINT NOT NULL,
    handed_at    BIGINT NOT NULL, -- when it was last handed over to be delivered; 0 for never
    notice       TEXT COLLATE "C"   NOT NULL DEFAULT '', -- opt.NoticeKind; '' for a state
    PRIMARY KEY (objective_id, task_id, config_id, n)
);
CREATE INDEX deliveries_due ON deliveries (handed_at, task_id, config_id, n) WHERE status = 'due';

-- The latest attempts at deliveries.
CREATE TABLE attempts (
    objective_id TEXT COLLATE "C"   NOT NULL,
    task_id      TEXT COLLATE "C"   NOT NULL,
    config_id    TEXT COLLATE "C"   NOT NULL,
    n            BIGINT NOT NULL, -- of the delivery
    try          BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    http         BIGINT NOT NULL, -- status; 0 for none
    error        TEXT COLLATE "C"   NOT NULL, -- a class; '' for none
    PRIMARY KEY (objective_id, task_id, config_id, n, try)
);

-- The decisions at gates, in chains.
CREATE TABLE decisions (
    objective_id TEXT COLLATE "C"   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event that brought it
    plan_id      TEXT COLLATE "C"   NOT NULL,
    attempt      BIGINT NOT NULL, -- at the plan
    n            BIGINT NOT NULL, -- in the chain of the attempt
    doc          TEXT COLLATE "C"   NOT NULL, -- opt.Decision
    epoch        BIGINT NOT NULL, -- of the plan; 0 for the first
    PRIMARY KEY (objective_id, seq)
);
CREATE INDEX decisions_in_chain ON decisions (objective_id, plan_id, attempt, n);

-- The gates that notices are about.
CREATE TABLE notices (
    objective_id TEXT COLLATE "C"   NOT NULL,
    n            BIGINT NOT NULL, -- of the event, as in deliveries
    gate         TEXT COLLATE "C"   NOT NULL, -- opt.Gate at that moment, as clients see it
    PRIMARY KEY (objective_id, n)
);

-- Keys of callers. The secrets are not kept.
CREATE TABLE api_keys (
    id         TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
    tenant     TEXT COLLATE "C"   NOT NULL,
    principal  TEXT COLLATE "C"   NOT NULL,
    groups     TEXT COLLATE "C"   NOT NULL, -- a JSON array
    scopes     TEXT COLLATE "C"   NOT NULL, -- a JSON array
    name       TEXT COLLATE "C"   NOT NULL, -- for people
    hash       BYTEA  NOT NULL, -- of the secret
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, -- 0 for never
    revoked_at BIGINT NOT NULL  -- 0 for one that was not
);

-- Keys that sign deliveries.
CREATE TABLE signing_keys (
    id         TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
    private    BYTEA  NOT NULL, -- sealed
    created_at BIGINT NOT NULL
);

-- Browsers that are signed in to the console.
CREATE TABLE sessions (
    id         TEXT COLLATE "C"   NOT NULL PRIMARY KEY, -- the hash of the secret in the cookie
    secrets    BYTEA  NOT NULL, -- the credential and what belongs to it, sealed
    renew_at   BIGINT NOT NULL, -- 0 for a credential that is not renewed
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expired ON sessions (expires_at);

-- Notices that a tenant has sent in the last hour.
CREATE TABLE notice_places (
    tenant   TEXT COLLATE "C"   NOT NULL,
    delivery TEXT COLLATE "C"   NOT NULL, -- its id
    at       BIGINT NOT NULL,
    PRIMARY KEY (tenant, delivery)
);

-- How many tasks and objectives of a tenant have ended, by state, so that lists need not
-- count them each time. Open ones are counted. Triggers keep the numbers.

CREATE TABLE tallies (
    tenant  TEXT COLLATE "C"   NOT NULL,
    subject TEXT COLLATE "C"   NOT NULL, -- tasks, objectives or blocks
    state   TEXT COLLATE "C"   NOT NULL, -- tasks.shown, objectives.status, or ''
    n       BIGINT NOT NULL,
    PRIMARY KEY (tenant, subject, state)
);

-- Changes of tallies. In PostgreSQL writers only add rows here, so that none waits for
-- another, and the numbers are folded into tallies later. SQLite has one writer and does
-- not need it.
CREATE TABLE tally_changes (
    tenant  TEXT COLLATE "C"   NOT NULL,
    subject TEXT COLLATE "C"   NOT NULL,
    state   TEXT COLLATE "C"   NOT NULL,
    n       BIGINT NOT NULL
);
CREATE INDEX tally_changes_by_state ON tally_changes (tenant, subject, state);

CREATE FUNCTION tally_task() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.ended = 1 THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (OLD.tenant, 'tasks', OLD.shown, -1);
    END IF;
    IF NEW.ended = 1 THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (NEW.tenant, 'tasks', NEW.shown, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION untally_tasks() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, 'tasks', shown, -COUNT(*) FROM removed
        WHERE ended = 1 GROUP BY tenant, shown;
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_counted AFTER INSERT ON tasks FOR EACH ROW
    WHEN (NEW.ended = 1) EXECUTE FUNCTION tally_task();
CREATE TRIGGER tasks_recounted AFTER UPDATE OF shown, ended ON tasks FOR EACH ROW
    WHEN ((OLD.shown <> NEW.shown OR OLD.ended <> NEW.ended) AND (OLD.ended = 1 OR NEW.ended = 1)) EXECUTE FUNCTION tally_task();
CREATE TRIGGER tasks_uncounted AFTER DELETE ON tasks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION untally_tasks();

CREATE FUNCTION tally_objective() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.ended = 1 THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (OLD.tenant, 'objectives', OLD.status, -1);
    END IF;
    IF NEW.ended = 1 THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (NEW.tenant, 'objectives', NEW.status, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION untally_objectives() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, 'objectives', status, -COUNT(*) FROM removed
        WHERE ended = 1 GROUP BY tenant, status;
    RETURN NULL;
END $$;
CREATE TRIGGER objectives_counted AFTER INSERT ON objectives FOR EACH ROW
    WHEN (NEW.ended = 1) EXECUTE FUNCTION tally_objective();
CREATE TRIGGER objectives_recounted AFTER UPDATE OF status, ended ON objectives FOR EACH ROW
    WHEN ((OLD.status <> NEW.status OR OLD.ended <> NEW.ended) AND (OLD.ended = 1 OR NEW.ended = 1)) EXECUTE FUNCTION tally_objective();
CREATE TRIGGER objectives_uncounted AFTER DELETE ON objectives REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION untally_objectives();

-- The tally of blocks of 16 KiB that the objectives of a tenant fill, each at least a part of
-- one. So most events change no tally.

CREATE FUNCTION tally_blocks() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO tally_changes (tenant, subject, state, n)
        VALUES (NEW.tenant, 'blocks', '', CASE WHEN TG_OP = 'INSERT' THEN NEW.bytes / 16384 + 1 ELSE NEW.bytes / 16384 - OLD.bytes / 16384 END);
    RETURN NULL;
END $$;
CREATE FUNCTION untally_blocks() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, 'blocks', '', -SUM(bytes / 16384 + 1) FROM removed GROUP BY tenant;
    RETURN NULL;
END $$;
CREATE TRIGGER blocks_counted AFTER INSERT ON objectives FOR EACH ROW EXECUTE FUNCTION tally_blocks();
CREATE TRIGGER blocks_recounted AFTER UPDATE OF bytes ON objectives FOR EACH ROW
    WHEN (OLD.bytes / 16384 <> NEW.bytes / 16384) EXECUTE FUNCTION tally_blocks();
CREATE TRIGGER blocks_uncounted AFTER DELETE ON objectives REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION untally_blocks();
