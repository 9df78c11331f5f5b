-- What legs and planners have used of models, a row for each event that says it.

CREATE TABLE costs (
    objective_id  TEXT   NOT NULL,
    seq           BIGINT NOT NULL, -- of the event
    tenant        TEXT   NOT NULL,
    context_id    TEXT   NOT NULL,
    plan_id       TEXT   NOT NULL, -- '' for a planner
    task_id       TEXT   NOT NULL, -- of the A2A task; '' for a planner
    model         TEXT   NOT NULL,
    at            BIGINT NOT NULL,
    input_tokens  BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL, -- of input_tokens
    output_tokens BIGINT NOT NULL,
    cost          BIGINT NOT NULL, -- in millionths
    PRIMARY KEY (objective_id, seq)
);
CREATE INDEX costs_by_time ON costs (tenant, at);

ALTER TABLE tasks ADD COLUMN budgets TEXT NOT NULL DEFAULT ''; -- opt.Budgets that limit it; '' for none
