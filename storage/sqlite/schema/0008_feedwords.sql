-- What a feed is found and ordered by, as storage.FeedWords makes it. The
-- function is ours: SQLite itself knows no case but that of ASCII. Nothing in the
-- schema uses it, so that other programs can write the file.
ALTER TABLE feeds ADD COLUMN words TEXT NOT NULL DEFAULT '';
UPDATE feeds SET words = feed_words(title, url, site);
CREATE INDEX feeds_words ON feeds (words, id);

-- A person wants the import to end.
ALTER TABLE imports ADD COLUMN cancel INTEGER NOT NULL DEFAULT 0;
