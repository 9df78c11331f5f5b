-- What models have cost.

ALTER TABLE objectives ADD COLUMN spent TEXT NOT NULL DEFAULT ''; -- opt.Usage of the present attempt; '' for none
