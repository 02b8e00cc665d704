ALTER TABLE feeds ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;

ALTER TABLE feeds ADD COLUMN request TEXT; -- JSON, or NULL if it is asked as all others

CREATE TABLE moved (
	id   TEXT PRIMARY KEY,         -- of a feed that is no more
	feed INTEGER NOT NULL          -- num of the one that has its items
) STRICT, WITHOUT ROWID;

CREATE INDEX moved_by_feed ON moved (feed);

CREATE TABLE proxies (
	id     TEXT PRIMARY KEY,
	url    TEXT NOT NULL,
	hosts  TEXT,
	always INTEGER NOT NULL,
	added  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE imports (
	id       TEXT NOT NULL PRIMARY KEY,
	name     TEXT NOT NULL,
	started  INTEGER NOT NULL,
	finished INTEGER,              -- NULL until it is
	total    INTEGER NOT NULL,
	done     INTEGER NOT NULL,
	added    INTEGER NOT NULL,
	known    INTEGER NOT NULL,
	invalid  INTEGER NOT NULL,
	lines    BLOB                   -- NULL if there are none
) STRICT;
