ALTER TABLE items ADD COLUMN story_why TEXT NOT NULL DEFAULT '';

ALTER TABLE items ADD COLUMN duplicate_score REAL NOT NULL DEFAULT 0;

ALTER TABLE items ADD COLUMN duplicate_why TEXT NOT NULL DEFAULT '';

ALTER TABLE items ADD COLUMN clicks INTEGER NOT NULL DEFAULT 0;

CREATE INDEX items_by_story ON items (story_id);

-- Which stories an event has items in, but for the one that began with it: see
-- rearrange.go. An index of items by event would cost each item that is put as much
-- as the one by story, and most are the only one of their event. Rows may outlive
-- their items.
CREATE TABLE event_stories (
	event_id TEXT NOT NULL,
	story_id TEXT NOT NULL,
	PRIMARY KEY (event_id, story_id)
) STRICT, WITHOUT ROWID;

INSERT INTO event_stories (event_id, story_id)
SELECT DISTINCT event_id, story_id FROM items WHERE event_id <> '';

-- Where new items of an event belong, whatever they say.
CREATE TABLE moved_events (
	event_id TEXT PRIMARY KEY,
	story_id TEXT NOT NULL,
	at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX moved_events_by_time ON moved_events (at);

-- That stories are to be told anew: a row for each time that something of one
-- changed. A number is never given out twice, so that whoever forgets one that he
-- was told forgets no later change.
CREATE TABLE untold (
	mark     INTEGER PRIMARY KEY AUTOINCREMENT,
	story_id TEXT NOT NULL
) STRICT;

INSERT INTO untold (story_id)
SELECT story_id FROM items WHERE story_id <> '' GROUP BY story_id HAVING count(*) > 1;

-- What is told of stories.
CREATE TABLE stories (
	num        INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	lane       TEXT NOT NULL,
	headline   TEXT NOT NULL,      -- ID of an item
	title      TEXT NOT NULL,
	summary    TEXT,               -- JSON, or NULL if there is none
	items      INTEGER NOT NULL,
	events     INTEGER NOT NULL,
	sources    INTEGER NOT NULL,
	first_seen INTEGER NOT NULL,
	last_seen  INTEGER NOT NULL,
	categories TEXT,
	topics     TEXT,
	heat       REAL NOT NULL,
	clicks     INTEGER NOT NULL,
	burst      INTEGER NOT NULL,
	rank       REAL NOT NULL,
	told       INTEGER NOT NULL
) STRICT;

-- Both have all that a list may ask for, so that only the stories it has are read.
CREATE INDEX stories_by_rank ON stories (rank DESC, id, lane, sources, first_seen, last_seen, categories, topics);

CREATE INDEX stories_by_time ON stories (last_seen DESC, id, lane, sources, first_seen, categories, topics);

CREATE TABLE notes (
	name TEXT PRIMARY KEY,
	note BLOB                      -- NULL if it is empty
) STRICT;
