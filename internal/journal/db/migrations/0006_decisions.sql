-- The decisions at gates, in chains.
CREATE TABLE decisions (
    objective_id TEXT   NOT NULL,
    seq          BIGINT NOT NULL, -- of the event that brought it
    plan_id      TEXT   NOT NULL,
    attempt      BIGINT NOT NULL, -- at the plan
    n            BIGINT NOT NULL, -- in the chain of the attempt
    doc          TEXT   NOT NULL, -- opt.Decision
    PRIMARY KEY (objective_id, seq)
);
CREATE INDEX decisions_in_chain ON decisions (objective_id, plan_id, attempt, n);

ALTER TABLE tasks ADD COLUMN decided TEXT NOT NULL DEFAULT ''; -- opt.Decided: how its latest gate was closed
