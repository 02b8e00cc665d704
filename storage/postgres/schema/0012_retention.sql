ALTER TABLE feeds
	ADD COLUMN keep   text NOT NULL DEFAULT '',
	ADD COLUMN purged bigint NOT NULL DEFAULT 0;

-- Keys of purged items. Whoever writes rows of a feed holds its row locked.
CREATE TABLE purged (
	key    bigint NOT NULL,                -- storage.KeyNumber of the key
	feed   integer NOT NULL,               -- num of the feed
	listed timestamptz NOT NULL,           -- day on which a document was last noted to list it
	PRIMARY KEY (feed, key)
);
