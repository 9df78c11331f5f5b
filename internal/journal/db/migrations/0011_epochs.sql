-- Sources that have begun another epoch, and objectives whose events are not taken.

ALTER TABLE objectives ADD COLUMN epochs TEXT NOT NULL DEFAULT ''; -- latest epochs by the names of sources; '' for none but first ones
ALTER TABLE objectives ADD COLUMN stuck TEXT NOT NULL DEFAULT ''; -- opt.Stuck; '' for an objective that records
ALTER TABLE decisions ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0; -- of the plan; 0 for the first
ALTER TABLE objectives ADD COLUMN shapers TEXT NOT NULL DEFAULT ''; -- other principals who shaped the work; '' for none
CREATE INDEX objectives_stuck ON objectives (id) WHERE stuck <> '';
