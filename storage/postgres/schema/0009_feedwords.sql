-- What a feed is found and ordered by, as storage.FeedWords makes it. Agents of an
-- older version leave it empty or as it was until the feed's next document.
ALTER TABLE feeds ADD COLUMN words text COLLATE "C" NOT NULL DEFAULT '';
UPDATE feeds SET words = lower(left(title, 256) || E'\n' || left(url, 512) || E'\n' || left(site, 512));
CREATE INDEX feeds_words ON feeds (words, id);

-- A person wants the import to end.
ALTER TABLE imports ADD COLUMN cancel boolean NOT NULL DEFAULT false;
