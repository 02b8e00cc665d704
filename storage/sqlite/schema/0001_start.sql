-- Times are microseconds since 1970, UTC. Lists of words are JSON, or NULL when
-- empty. Texts are never NULL.

CREATE TABLE feeds (
	num       INTEGER PRIMARY KEY, -- stands for the 26 bytes of id in each item
	id        TEXT NOT NULL UNIQUE,
	url       TEXT NOT NULL UNIQUE,
	title     TEXT NOT NULL,
	site      TEXT NOT NULL,
	language  TEXT NOT NULL,
	tags      TEXT,
	added     INTEGER NOT NULL,
	items     INTEGER NOT NULL DEFAULT 0,
	last_item INTEGER,             -- NULL if there is none
	rate      REAL NOT NULL DEFAULT 0
) STRICT;

-- What a writer compares comes first and the bulk last: a row is read from its
-- start, and only as far as its last column asked for.
CREATE TABLE items (
	num          INTEGER PRIMARY KEY,
	feed         INTEGER NOT NULL, -- num of its feed
	key          TEXT NOT NULL,
	hash         TEXT NOT NULL,
	revision     INTEGER NOT NULL,
	first_seen   INTEGER NOT NULL,
	published    INTEGER NOT NULL,
	assumed      TEXT NOT NULL,
	updated      INTEGER,          -- NULL if unknown
	id           TEXT NOT NULL UNIQUE,
	url          TEXT NOT NULL,
	title        TEXT NOT NULL,
	author       TEXT NOT NULL,
	language     TEXT NOT NULL,
	spam         INTEGER NOT NULL,
	lane         TEXT NOT NULL,
	text_hash    TEXT NOT NULL,
	event_id     TEXT NOT NULL,
	story_id     TEXT NOT NULL,
	duplicate_of TEXT NOT NULL,
	duplicate_by TEXT NOT NULL,
	images       TEXT,
	tags         TEXT,
	categories   TEXT,
	topics       TEXT,
	why          TEXT,
	excerpt      TEXT NOT NULL,
	html         TEXT NOT NULL,
	UNIQUE (feed, key)
) STRICT;

CREATE INDEX items_by_lane ON items (lane, first_seen, id);

CREATE INDEX items_by_first ON items (duplicate_of) WHERE duplicate_of <> '';

CREATE TABLE fences (
	name   TEXT PRIMARY KEY,
	number INTEGER NOT NULL        -- the newest given out
) STRICT, WITHOUT ROWID;

-- One row: the name of this store, to be told from others by.
CREATE TABLE store (
	id TEXT NOT NULL
) STRICT;

INSERT INTO store (id) VALUES (lower(hex(randomblob(16))));
