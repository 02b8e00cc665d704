-- What clients said of items. No trigger keeps it, as with kept_labels.
CREATE TABLE marks (
	client  text COLLATE "C" NOT NULL,
	item_id text COLLATE "C" NOT NULL,
	read    boolean,                       -- NULL: nothing said
	starred boolean NOT NULL,
	PRIMARY KEY (client, item_id)
);

CREATE INDEX marks_by_item ON marks (item_id);

CREATE INDEX starred_marks ON marks (client, item_id) WHERE starred;

CREATE INDEX unread_marks ON marks (client, item_id) WHERE NOT read;

-- Up to when clients have read all of a feed.
CREATE TABLE read_until (
	until  timestamptz NOT NULL,
	feed   integer NOT NULL,               -- num of the feed; 0: of all
	client text COLLATE "C" NOT NULL,
	PRIMARY KEY (client, feed)
);

CREATE INDEX read_until_by_feed ON read_until (feed);

CREATE TABLE searches (
	added timestamptz NOT NULL,
	name  text COLLATE "C" PRIMARY KEY,
	title text NOT NULL,
	query text NOT NULL
);

-- The items that readers are shown, as marks.go has it. Who writes items waits for
-- these, who reads them does not.
CREATE INDEX listed_items ON items (first_seen, id) INCLUDE (feed)
	WHERE NOT spam AND duplicate_of = '' AND NOT coalesce(flags ? 'muted', false);

CREATE INDEX listed_items_by_feed ON items (feed, first_seen, id)
	WHERE NOT spam AND duplicate_of = '' AND NOT coalesce(flags ? 'muted', false);
