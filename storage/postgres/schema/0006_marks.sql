-- Who writes items waits for these, who reads them does not. They have a step of
-- their own so that the locks of the one before are not held for as long. A hash
-- takes half the room, but ever longer for one more of the same: of thousands of
-- items of one story, or of none.

CREATE INDEX items_by_event ON items (event_id);

CREATE INDEX items_by_story ON items (story_id);

-- marks_of returns when to tell a story of which a statement took so many items
-- that were there and brought so many that are: not at all where it has not and had
-- not several items.
--
-- Where it had not, it is told once more when all who were at work beside this are
-- done, and no writer takes longer than a minute: one who changed its only item
-- meanwhile saw that alone, and marked nothing.
CREATE FUNCTION marks_of(story text, came bigint, went bigint) RETURNS SETOF interval LANGUAGE sql STABLE AS $$
	SELECT unnest(CASE WHEN has >= 2 AND has + went - came < 2 THEN '{0, 3 minutes}' ELSE '{0}' END::interval[])
	FROM (SELECT count(*) AS has FROM (SELECT FROM items WHERE story_id = story LIMIT greatest(2, 2 + came - went)) AS first) AS counted
	WHERE has >= 2 OR has + went - came >= 2
$$;

-- Its plans are kept for as long as a connection, and may be made while there are few
-- items, where reading all of them would cost least.
CREATE FUNCTION mark_stories() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
BEGIN
	CASE TG_OP
	WHEN 'INSERT' THEN
		INSERT INTO untold (due, story_id)
		SELECT clock_timestamp() + later, story_id
		FROM (SELECT story_id, count(*) AS came FROM new_items WHERE story_id <> '' GROUP BY story_id) AS touched,
			marks_of(story_id, came, 0) AS later;
	WHEN 'UPDATE' THEN
		INSERT INTO untold (due, story_id)
		SELECT clock_timestamp() + later, story_id
		FROM (
			SELECT story_id, count(*) FILTER (WHERE came) AS came, count(*) FILTER (WHERE NOT came) AS went
			FROM (SELECT story_id, true AS came FROM new_items UNION ALL SELECT story_id, false FROM old_items) AS rows
			WHERE story_id <> '' GROUP BY story_id
		) AS touched, marks_of(story_id, came, went) AS later;
	WHEN 'DELETE' THEN
		INSERT INTO untold (due, story_id)
		SELECT clock_timestamp() + later, story_id
		FROM (SELECT story_id, count(*) AS went FROM old_items WHERE story_id <> '' GROUP BY story_id) AS touched,
			marks_of(story_id, 0, went) AS later;
	END CASE;
	RETURN NULL;
END
$$;

CREATE TRIGGER stories_get AFTER INSERT ON items REFERENCING NEW TABLE AS new_items
	FOR EACH STATEMENT EXECUTE FUNCTION mark_stories();

CREATE TRIGGER stories_change AFTER UPDATE ON items REFERENCING OLD TABLE AS old_items NEW TABLE AS new_items
	FOR EACH STATEMENT EXECUTE FUNCTION mark_stories();

CREATE TRIGGER stories_lose AFTER DELETE ON items REFERENCING OLD TABLE AS old_items
	FOR EACH STATEMENT EXECUTE FUNCTION mark_stories();
