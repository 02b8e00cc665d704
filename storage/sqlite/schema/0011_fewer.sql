-- The index by day had the items of a day in order of ID: each item put was written
-- to another page of it. What it was for comes from the index by lane, to whose end
-- items are put.
DROP INDEX items_by_day;

DROP INDEX items_by_lane;

CREATE INDEX items_by_lane ON items (lane, first_seen, id, changed);
