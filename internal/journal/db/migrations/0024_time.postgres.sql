-- Beside what work has used of models and people: for how many seconds tasks ran.

ALTER TABLE costs ADD COLUMN seconds BIGINT NOT NULL DEFAULT 0;
