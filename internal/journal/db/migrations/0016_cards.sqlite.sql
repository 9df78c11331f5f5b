-- Cards at chat platforms: where one is shown, and how its gate was closed.

ALTER TABLE deliveries ADD COLUMN card TEXT NOT NULL DEFAULT ''; -- of a notice, in the words of the receiver; '' for none
ALTER TABLE notices ADD COLUMN decided TEXT NOT NULL DEFAULT ''; -- opt.Decided; '' for none
