ALTER TABLE items ADD COLUMN spam_score REAL NOT NULL DEFAULT 0;

ALTER TABLE items ADD COLUMN flags TEXT; -- JSON, or NULL if there are none

ALTER TABLE items ADD COLUMN score REAL NOT NULL DEFAULT 0;

ALTER TABLE items ADD COLUMN sentiment REAL NOT NULL DEFAULT 0;

ALTER TABLE items ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0; -- 1 if it is in corrections

ALTER TABLE feeds ADD COLUMN spam_threshold REAL NOT NULL DEFAULT 0;

ALTER TABLE feeds ADD COLUMN categories TEXT; -- JSON: how many of its last items have each; NULL if none has any

-- The items that are spam. No trigger keeps it: each that a table has makes a copy
-- of every row that is put.
CREATE TABLE spam (
	item_id TEXT PRIMARY KEY,
	feed    INTEGER NOT NULL,      -- num of its feed
	judged  INTEGER NOT NULL,      -- when it became spam
	score   REAL NOT NULL,
	reasons TEXT                   -- JSON, or NULL if there are none
) STRICT, WITHOUT ROWID;

CREATE INDEX spam_by_judged ON spam (judged DESC, item_id);

CREATE INDEX spam_by_feed ON spam (feed, judged DESC, item_id);

INSERT INTO spam (item_id, feed, judged, score, reasons)
SELECT id, feed, coalesce(changed, first_seen), spam_score, why FROM items WHERE spam;

-- What persons said of items.
CREATE TABLE corrections (
	item_id    TEXT PRIMARY KEY,
	at         INTEGER NOT NULL,
	person     TEXT NOT NULL,
	spam       INTEGER,            -- NULL leaves it open, as in the next two
	categories TEXT,               -- JSON
	topics     TEXT                -- JSON
) STRICT, WITHOUT ROWID;

CREATE INDEX corrections_by_time ON corrections (at, item_id);

-- What labels items had before a job.
CREATE TABLE kept_labels (
	job     TEXT NOT NULL,
	item_id TEXT NOT NULL,
	labels  TEXT NOT NULL,         -- JSON
	PRIMARY KEY (job, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_labels_by_item ON kept_labels (item_id);

CREATE TABLE jobs (
	id       TEXT NOT NULL PRIMARY KEY,
	kind     TEXT NOT NULL,
	note     TEXT NOT NULL,
	started  INTEGER NOT NULL,
	finished INTEGER,              -- NULL until it is
	state    TEXT NOT NULL,
	cancel   INTEGER NOT NULL,
	total    INTEGER NOT NULL,
	done     INTEGER NOT NULL,
	changed  INTEGER NOT NULL,
	err      TEXT NOT NULL,
	result   BLOB                  -- NULL if there is none
) STRICT;
