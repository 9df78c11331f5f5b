-- Beside what models have cost: at how many gates people were asked, and how many tasks were handed over to
-- other agents.

ALTER TABLE costs ADD COLUMN questions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE costs ADD COLUMN calls BIGINT NOT NULL DEFAULT 0;
