-- Feeds by the slot of their host, which is hostSlot in feedquery.go: a partition of the schedule reads only the feeds of its slots. An
-- expression, not a column: older agents would copy the column to backups, where no engine has it.
CREATE INDEX feeds_host_slot ON feeds
	((get_byte(decode(md5(coalesce(substring(url FROM '://(\[[^]/]*\]|[^/:[]*)'), '')), 'hex'), 0) % 64), url);
CREATE INDEX feeds_request ON feeds (url) WHERE request IS NOT NULL;
