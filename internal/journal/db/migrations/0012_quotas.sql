-- What tenants use of their quotas.

-- The size of the events and blobs of an objective. It only grows, and a program that does
-- not know the column adds nothing.
ALTER TABLE objectives ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE objectives SET bytes = COALESCE((SELECT SUM(octet_length(doc)) FROM events WHERE objective_id = objectives.id), 0)
    + COALESCE((SELECT SUM(octet_length(data)) FROM blobs WHERE objective_id = objectives.id), 0);

-- Notices that a tenant has sent in the last hour.
CREATE TABLE notice_places (
    tenant   TEXT   NOT NULL,
    delivery TEXT   NOT NULL, -- its id
    at       BIGINT NOT NULL,
    PRIMARY KEY (tenant, delivery)
);
