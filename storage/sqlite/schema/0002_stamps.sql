-- When the store last changed anything of an item. NULL in rows from before this
-- step, which count as changed when first seen: to fill it in would write the
-- whole file anew.
ALTER TABLE items ADD COLUMN changed INTEGER;

-- Has all that a comparison with the search index asks for, so that no item is
-- read for it. The first value is the day of first_seen; see stamps.go.
CREATE INDEX items_by_day ON items (
	first_seen - (first_seen % 86400000000 + 86400000000) % 86400000000,
	id, changed, first_seen
);
