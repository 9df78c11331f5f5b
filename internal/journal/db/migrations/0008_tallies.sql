-- How many tasks and objectives of a tenant have ended, by state, so that lists need not
-- count them each time. Open ones are counted. Triggers keep the numbers, so they also hold
-- for programs that do not know these tables.

CREATE TABLE tallies (
    tenant  TEXT   NOT NULL,
    subject TEXT   NOT NULL, -- tasks or objectives
    state   TEXT   NOT NULL, -- tasks.shown, or objectives.status
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

-- for sqlite

CREATE TRIGGER tasks_counted AFTER INSERT ON tasks WHEN NEW.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required')
BEGIN
    INSERT INTO tallies (tenant, subject, state, n) VALUES (NEW.tenant, 'tasks', NEW.shown, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER tasks_uncounted AFTER DELETE ON tasks WHEN OLD.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required')
BEGIN
    UPDATE tallies SET n = n - 1 WHERE tenant = OLD.tenant AND subject = 'tasks' AND state = OLD.shown;
END;
CREATE TRIGGER tasks_recounted AFTER UPDATE OF shown ON tasks
    WHEN OLD.shown <> NEW.shown AND (OLD.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') OR NEW.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required'))
BEGIN
    UPDATE tallies SET n = n - 1 WHERE tenant = OLD.tenant AND subject = 'tasks' AND state = OLD.shown;
    INSERT INTO tallies (tenant, subject, state, n) SELECT NEW.tenant, 'tasks', NEW.shown, 1
        WHERE NEW.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER objectives_counted AFTER INSERT ON objectives WHEN NEW.status NOT IN ('submitted', 'planning', 'working', 'blocked')
BEGIN
    INSERT INTO tallies (tenant, subject, state, n) VALUES (NEW.tenant, 'objectives', NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER objectives_uncounted AFTER DELETE ON objectives WHEN OLD.status NOT IN ('submitted', 'planning', 'working', 'blocked')
BEGIN
    UPDATE tallies SET n = n - 1 WHERE tenant = OLD.tenant AND subject = 'objectives' AND state = OLD.status;
END;
CREATE TRIGGER objectives_recounted AFTER UPDATE OF status ON objectives
    WHEN OLD.status <> NEW.status AND (OLD.status NOT IN ('submitted', 'planning', 'working', 'blocked') OR NEW.status NOT IN ('submitted', 'planning', 'working', 'blocked'))
BEGIN
    UPDATE tallies SET n = n - 1 WHERE tenant = OLD.tenant AND subject = 'objectives' AND state = OLD.status;
    INSERT INTO tallies (tenant, subject, state, n) SELECT NEW.tenant, 'objectives', NEW.status, 1
        WHERE NEW.status NOT IN ('submitted', 'planning', 'working', 'blocked') ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- for postgres

CREATE FUNCTION tally_task() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (OLD.tenant, 'tasks', OLD.shown, -1);
    END IF;
    IF NEW.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (NEW.tenant, 'tasks', NEW.shown, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION untally_tasks() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, 'tasks', shown, -COUNT(*) FROM removed
        WHERE shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') GROUP BY tenant, shown;
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_counted AFTER INSERT ON tasks FOR EACH ROW
    WHEN (NEW.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required')) EXECUTE FUNCTION tally_task();
CREATE TRIGGER tasks_recounted AFTER UPDATE OF shown ON tasks FOR EACH ROW
    WHEN (OLD.shown <> NEW.shown AND (OLD.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') OR NEW.shown NOT IN ('submitted', 'working', 'input-required', 'auth-required'))) EXECUTE FUNCTION tally_task();
CREATE TRIGGER tasks_uncounted AFTER DELETE ON tasks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION untally_tasks();

CREATE FUNCTION tally_objective() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status NOT IN ('submitted', 'planning', 'working', 'blocked') THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (OLD.tenant, 'objectives', OLD.status, -1);
    END IF;
    IF NEW.status NOT IN ('submitted', 'planning', 'working', 'blocked') THEN
        INSERT INTO tally_changes (tenant, subject, state, n) VALUES (NEW.tenant, 'objectives', NEW.status, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION untally_objectives() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO tally_changes (tenant, subject, state, n) SELECT tenant, 'objectives', status, -COUNT(*) FROM removed
        WHERE status NOT IN ('submitted', 'planning', 'working', 'blocked') GROUP BY tenant, status;
    RETURN NULL;
END $$;
CREATE TRIGGER objectives_counted AFTER INSERT ON objectives FOR EACH ROW
    WHEN (NEW.status NOT IN ('submitted', 'planning', 'working', 'blocked')) EXECUTE FUNCTION tally_objective();
CREATE TRIGGER objectives_recounted AFTER UPDATE OF status ON objectives FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND (OLD.status NOT IN ('submitted', 'planning', 'working', 'blocked') OR NEW.status NOT IN ('submitted', 'planning', 'working', 'blocked'))) EXECUTE FUNCTION tally_objective();
CREATE TRIGGER objectives_uncounted AFTER DELETE ON objectives REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION untally_objectives();

-- for both

INSERT INTO tallies (tenant, subject, state, n)
    SELECT tenant, 'tasks', shown, COUNT(*) FROM tasks WHERE shown NOT IN ('submitted', 'working', 'input-required', 'auth-required') GROUP BY tenant, shown;
INSERT INTO tallies (tenant, subject, state, n)
    SELECT tenant, 'objectives', status, COUNT(*) FROM objectives WHERE status NOT IN ('submitted', 'planning', 'working', 'blocked') GROUP BY tenant, status;
