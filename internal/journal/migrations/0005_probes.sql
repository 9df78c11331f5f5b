-- One row at the most: written to find out whether there is room.

CREATE TABLE probes (
    id   BIGINT NOT NULL PRIMARY KEY,
    room BYTEA  NOT NULL
);
