-- What clients said of items.
CREATE TABLE marks (
	client  TEXT NOT NULL,
	item_id TEXT NOT NULL,
	read    INTEGER,               -- NULL: nothing said
	starred INTEGER NOT NULL,
	PRIMARY KEY (client, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX marks_by_item ON marks (item_id);

CREATE INDEX starred_marks ON marks (client, item_id) WHERE starred;

CREATE INDEX unread_marks ON marks (client, item_id) WHERE read = 0;

-- Up to when clients have read all of a feed.
CREATE TABLE read_until (
	client TEXT NOT NULL,
	feed   INTEGER NOT NULL,       -- num of the feed; 0: of all
	until  INTEGER NOT NULL,
	PRIMARY KEY (client, feed)
) STRICT, WITHOUT ROWID;

CREATE INDEX read_until_by_feed ON read_until (feed);

-- The items that readers are shown, as marks.go has it.
CREATE INDEX listed_items ON items (first_seen, id, feed)
	WHERE NOT spam AND duplicate_of = '' AND (flags IS NULL OR instr(flags, '"muted"') = 0);

CREATE INDEX listed_items_by_feed ON items (feed, first_seen, id)
	WHERE NOT spam AND duplicate_of = '' AND (flags IS NULL OR instr(flags, '"muted"') = 0);

CREATE TABLE searches (
	name  TEXT PRIMARY KEY,
	title TEXT NOT NULL,
	query TEXT NOT NULL,
	added INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
