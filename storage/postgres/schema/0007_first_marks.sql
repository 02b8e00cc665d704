-- Nobody waits for this: what changes meanwhile is marked by the step before.

ANALYZE items (event_id, story_id);

INSERT INTO untold (due, story_id)
SELECT clock_timestamp(), story_id FROM items WHERE story_id <> '' GROUP BY story_id HAVING count(*) > 1;
