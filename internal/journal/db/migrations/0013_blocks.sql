-- The tally of blocks of 16 KiB that the objectives of a tenant fill, each at least a part of
-- one. So most events change no tally.

-- for sqlite

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

-- for postgres

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

-- for both

INSERT INTO tallies (tenant, subject, state, n) SELECT tenant, 'blocks', '', SUM(bytes / 16384 + 1) FROM objectives GROUP BY tenant;
