CREATE TABLE tokens (
	id      TEXT PRIMARY KEY,
	name    TEXT NOT NULL,
	hash    TEXT NOT NULL,
	scopes  TEXT,             -- JSON, or NULL if there are none
	created INTEGER NOT NULL,
	used    INTEGER           -- NULL: never
) STRICT;
