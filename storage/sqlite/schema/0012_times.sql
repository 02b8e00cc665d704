-- Listed items in order of their times, as marks.go reads them. Most new items stand near its end.
CREATE INDEX listed_items_by_time ON items (min(published, first_seen), id, first_seen, feed)
	WHERE NOT spam AND duplicate_of = '' AND (flags IS NULL OR instr(flags, '"muted"') = 0);
