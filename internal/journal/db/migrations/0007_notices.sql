-- Notices about gates, which are deliveries to channels: their config_id stands for
-- a channel.

ALTER TABLE deliveries ADD COLUMN notice TEXT NOT NULL DEFAULT ''; -- opt.NoticeKind; '' for a state

CREATE TABLE notices (
    objective_id TEXT   NOT NULL,
    n            BIGINT NOT NULL, -- of the event, as in deliveries
    gate         TEXT   NOT NULL, -- opt.Gate at that moment, as clients see it
    PRIMARY KEY (objective_id, n)
);
