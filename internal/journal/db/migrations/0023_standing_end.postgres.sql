-- Standing decisions are removed a while after their end.

CREATE INDEX standings_by_end ON standings (expires_at);
