-- Listed items in order of their times, as marks.go reads them.
CREATE INDEX listed_items_by_time ON items (least(published, first_seen), id) INCLUDE (first_seen, feed)
	WHERE NOT spam AND duplicate_of = '' AND NOT coalesce(flags ? 'muted', false);
