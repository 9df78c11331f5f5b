-- Absences of principals, with the deputies that may decide at gates in their place.

CREATE TABLE absences (
    id         TEXT   PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    principal  TEXT   NOT NULL,
    deputy     TEXT   NOT NULL,
    from_at    BIGINT NOT NULL,
    until_at   BIGINT NOT NULL,
    doc        TEXT   NOT NULL, -- opt.Absence
    ended_at   BIGINT NOT NULL, -- before until_at; 0 if it was not
    ended_by   TEXT   NOT NULL
);
CREATE INDEX absences_by_deputy ON absences (tenant, deputy, until_at);
CREATE INDEX absences_by_time ON absences (tenant, until_at, id);
CREATE INDEX absences_by_principal ON absences (tenant, principal, until_at);
CREATE INDEX absences_by_end ON absences (until_at);
