-- Standing decisions, which decide at gates in place of people.

CREATE TABLE standings (
    id         TEXT   PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    gates      TEXT   NOT NULL, -- that it is about: opt.Gate.Standing
    doc        TEXT   NOT NULL, -- standing.Decision
    people     TEXT   NOT NULL, -- []opt.Vote
    behind     BIGINT NOT NULL, -- how many people are behind it
    need       BIGINT NOT NULL, -- how many must be
    most       BIGINT NOT NULL, -- uses
    used       BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT NOT NULL, -- 0 if it was not
    revoked_by TEXT   NOT NULL
);
CREATE INDEX standings_by_gates ON standings (tenant, gates, created_at, id);
CREATE INDEX standings_by_time ON standings (tenant, created_at, id);

-- The gates about which they were asked and could decide. used counts them, also when they are gone.
CREATE TABLE standing_uses (
    gate_id      TEXT   PRIMARY KEY,
    objective_id TEXT   NOT NULL,
    standing_id  TEXT   NOT NULL,
    n            BIGINT NOT NULL,
    at           BIGINT NOT NULL
);
CREATE INDEX standing_uses_by_standing ON standing_uses (standing_id, n);
CREATE INDEX standing_uses_by_objective ON standing_uses (objective_id);

-- Answers of people to gates about which standing decisions may decide, to propose one.
CREATE TABLE standing_answers (
    tenant       TEXT   NOT NULL,
    principal    TEXT   NOT NULL,
    gates        TEXT   NOT NULL,
    at           BIGINT NOT NULL,
    gate_id      TEXT   NOT NULL,
    objective_id TEXT   NOT NULL,
    action       TEXT   NOT NULL,
    PRIMARY KEY (gate_id, principal)
);
CREATE INDEX standing_answers_by_person ON standing_answers (tenant, principal, at, gate_id);
CREATE INDEX standing_answers_by_objective ON standing_answers (objective_id);
