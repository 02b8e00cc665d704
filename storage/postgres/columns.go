package postgres

import (
	"time"

	"feedmesh/storage"
)

// nextChanged is the new value of an item's column changed. It differs from the previous value even if the
// server's clock goes backwards.
const nextChanged = `greatest(clock_timestamp(), items.changed + interval '1 microsecond')`

// putItems stores a batch of any number of items in one statement: each argument is a column of values.
// Stored items keep their placement.
const putItems = `
	INSERT INTO items (
		feed, changed, id, key, hash, revision, first_seen, published, assumed, updated,
		url, title, author, language, spam,
		lane, text_hash, event_id, story_id, duplicate_of, duplicate_by,
		images, tags, categories, topics, why, excerpt, html,
		enclosures, comments, source, spam_score, flags, score, sentiment,
		story_why, duplicate_score, duplicate_why
	)
	SELECT $1, clock_timestamp(), id, key, hash, revision, first_seen, published, assumed, updated,
		url, title, author, language, spam,
		lane, text_hash, new.event_id, coalesce(moved.story_id, new.story_id), duplicate_of, duplicate_by,
		images::jsonb, tags::jsonb, categories::jsonb, topics::jsonb, why::jsonb, excerpt, html,
		enclosures::jsonb, comments, source, spam_score, flags::jsonb, score, sentiment,
		story_why, duplicate_score, duplicate_why
	FROM unnest(
		$2::text[], $3::text[], $4::text[], $5::integer[], $6::timestamptz[], $7::timestamptz[], $8::text[], $9::timestamptz[],
		$10::text[], $11::text[], $12::text[], $13::text[], $14::boolean[],
		$15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[],
		$21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[],
		$28::text[], $29::text[], $30::text[], $31::float8[], $32::text[], $33::float8[], $34::float8[],
		$35::text[], $36::float8[], $37::text[]
	) AS new (id, key, hash, revision, first_seen, published, assumed, updated,
		url, title, author, language, spam,
		lane, text_hash, event_id, story_id, duplicate_of, duplicate_by,
		images, tags, categories, topics, why, excerpt, html,
		enclosures, comments, source, spam_score, flags, score, sentiment,
		story_why, duplicate_score, duplicate_why)
	LEFT JOIN moved_events moved ON moved.event_id = new.event_id AND new.event_id <> ''
	ORDER BY id -- as in all transactions that write items of one feed, to prevent deadlocks
	ON CONFLICT (id) DO UPDATE SET
		hash = excluded.hash, revision = excluded.revision, published = excluded.published,
		assumed = excluded.assumed, updated = excluded.updated, url = excluded.url,
		title = excluded.title, author = excluded.author, language = excluded.language,
		text_hash = excluded.text_hash,
		images = excluded.images, tags = excluded.tags, excerpt = excluded.excerpt, html = excluded.html,
		enclosures = excluded.enclosures, comments = excluded.comments, source = excluded.source,
		spam = CASE WHEN items.corrected THEN items.spam ELSE excluded.spam END,
		spam_score = CASE WHEN items.corrected THEN items.spam_score ELSE excluded.spam_score END,
		flags = CASE WHEN items.corrected THEN items.flags ELSE excluded.flags END,
		categories = CASE WHEN items.corrected THEN items.categories ELSE excluded.categories END,
		topics = CASE WHEN items.corrected THEN items.topics ELSE excluded.topics END,
		why = CASE WHEN items.corrected THEN items.why ELSE excluded.why END,
		score = CASE WHEN items.corrected THEN items.score ELSE excluded.score END,
		sentiment = CASE WHEN items.corrected THEN items.sentiment ELSE excluded.sentiment END,
		changed = ` + nextChanged + `
	RETURNING id, story_id`

// itemColumns returns the arguments of putItems.
func itemColumns(feed int32, items []storage.Item) []any {
	return []any{
		feed,
		column(items, func(i storage.Item) string { return i.ID }),
		column(items, func(i storage.Item) string { return i.Key }),
		column(items, func(i storage.Item) string { return i.Hash }),
		column(items, func(i storage.Item) int32 { return int32(i.Revision) }),
		column(items, func(i storage.Item) time.Time { return i.FirstSeen }),
		column(items, func(i storage.Item) time.Time { return i.Published }),
		column(items, func(i storage.Item) string { return i.Assumed }),
		column(items, func(i storage.Item) *time.Time { return timeOrNull(i.Updated) }),
		column(items, func(i storage.Item) string { return i.URL }),
		column(items, func(i storage.Item) string { return i.Title }),
		column(items, func(i storage.Item) string { return i.Author }),
		column(items, func(i storage.Item) string { return i.Language }),
		column(items, func(i storage.Item) bool { return i.Spam }),
		column(items, func(i storage.Item) string { return i.Partition }),
		column(items, func(i storage.Item) string { return i.TextHash }),
		column(items, func(i storage.Item) string { return i.EventID }),
		column(items, func(i storage.Item) string { return i.StoryID }),
		column(items, func(i storage.Item) string { return i.DuplicateOf }),
		column(items, func(i storage.Item) string { return i.DuplicateBy }),
		column(items, func(i storage.Item) *string { return listOrNull(i.Images) }),
		column(items, func(i storage.Item) *string { return listOrNull(i.Tags) }),
		column(items, func(i storage.Item) *string { return listOrNull(i.Categories) }),
		column(items, func(i storage.Item) *string { return listOrNull(i.Topics) }),
		column(items, func(i storage.Item) *string { return listOrNull(i.Reasons) }),
		column(items, func(i storage.Item) string { return i.Excerpt }),
		column(items, func(i storage.Item) string { return i.HTML }),
		column(items, func(i storage.Item) *string { return enclosuresOrNull(i.Enclosures) }),
		column(items, func(i storage.Item) string { return i.Comments }),
		column(items, func(i storage.Item) string { return i.Source }),
		column(items, func(i storage.Item) float64 { return i.SpamScore }),
		column(items, func(i storage.Item) *string { return listOrNull(i.Flags) }),
		column(items, func(i storage.Item) float64 { return i.Score }),
		column(items, func(i storage.Item) float64 { return i.Sentiment }),
		column(items, func(i storage.Item) string { return i.StoryReason }),
		column(items, func(i storage.Item) float64 { return i.DuplicateScore }),
		column(items, func(i storage.Item) string { return i.DuplicateReason }),
	}
}

// column returns one field of each row.
func column[Row, Value any](rows []Row, value func(Row) Value) []Value {
	all := make([]Value, len(rows))
	for i, row := range rows {
		all[i] = value(row)
	}
	return all
}
