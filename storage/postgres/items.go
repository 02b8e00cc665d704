package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const itemHashes = `SELECT id, hash FROM items WHERE id = ANY($1)`

// ItemHashes implements [storage.Items].
func (s itemStore) ItemHashes(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	ids := make([]string, len(keys))
	keyOf := make(map[string]string, len(keys))
	for i, key := range keys {
		ids[i] = storage.ItemID(feedID, key)
		keyOf[ids[i]] = key
	}
	hashes := make(map[string]string, len(keys))
	_, err := read(ctx, s.engine, "read item hashes", func(row pgx.CollectableRow) (id string, err error) {
		var hash string
		err = row.Scan(&id, &hash)
		hashes[keyOf[id]] = hash
		return id, err
	}, itemHashes, ids)
	if err != nil {
		return nil, err
	}
	return hashes, nil
}

// fieldsWithoutHTML are the columns of destinationsWithoutHTML, from items i and feeds f: all except the HTML.
const fieldsWithoutHTML = `
	i.id, f.id, i.key, i.hash, i.revision, i.url, i.title, i.excerpt, i.author, i.language,
	i.images, i.tags, i.published, i.assumed, i.updated, i.first_seen, i.changed,
	i.spam, i.spam_score, i.flags, i.categories, i.topics, i.why, i.score, i.sentiment, i.corrected,
	i.lane, i.text_hash, i.event_id, i.story_id, i.story_why,
	i.duplicate_of, i.duplicate_by, i.duplicate_score, i.duplicate_why, i.clicks,
	i.enclosures, i.comments, i.source`

// itemFields are the columns of destinations.
const itemFields = fieldsWithoutHTML + `, i.html`

const (
	fromItems         = ` FROM items i JOIN feeds f ON f.num = i.feed`
	selectItems       = `SELECT ` + itemFields + fromItems
	selectWithoutHTML = `SELECT ` + fieldsWithoutHTML + fromItems
)

// destinationsWithoutHTML returns the destinations of fieldsWithoutHTML.
func destinationsWithoutHTML(i *storage.Item) []any {
	return []any{&i.ID, &i.FeedID, &i.Key, &i.Hash, &i.Revision, &i.URL, &i.Title, &i.Excerpt, &i.Author, &i.Language,
		&i.Images, &i.Tags, nullTime{&i.Published}, &i.Assumed, nullTime{&i.Updated}, nullTime{&i.FirstSeen}, nullTime{&i.Changed},
		&i.Spam, &i.SpamScore, &i.Flags, &i.Categories, &i.Topics, &i.Reasons, &i.Score, &i.Sentiment, &i.Corrected,
		&i.Partition, &i.TextHash, &i.EventID, &i.StoryID, &i.StoryReason,
		&i.DuplicateOf, &i.DuplicateBy, &i.DuplicateScore, &i.DuplicateReason, &i.Clicks,
		&i.Enclosures, &i.Comments, &i.Source}
}

// destinations returns the destinations of itemFields.
func destinations(i *storage.Item) []any { return append(destinationsWithoutHTML(i), &i.HTML) }

func scanItem(row pgx.CollectableRow) (i storage.Item, err error) {
	err = row.Scan(destinations(&i)...)
	return i, err
}

func scanWithoutHTML(row pgx.CollectableRow) (i storage.Item, err error) {
	err = row.Scan(destinationsWithoutHTML(&i)...)
	return i, err
}

const itemsByID = selectItems + ` WHERE i.id = ANY($1)`

// Items implements [storage.Items].
func (s itemStore) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	found, err := read(ctx, s.engine, "read items", scanItem, itemsByID, ids)
	if err != nil {
		return nil, err
	}
	return storage.OrderByIDs(found, ids), nil
}

// $4 and $5 are NULL without a bound and without events.
const itemsByTime = selectItems + `
	WHERE i.lane = $1 AND (i.first_seen, i.id) > ($2, $3) AND ($4::timestamptz IS NULL OR i.first_seen < $4)
		AND ($5::text[] IS NULL OR i.event_id = ANY($5))
	ORDER BY i.first_seen, i.id LIMIT $6`

// ListItems implements [storage.Items].
func (s itemStore) ListItems(ctx context.Context, q storage.ItemQuery, after storage.Item, limit int) ([]storage.Item, error) {
	begin, id := micro(q.From), ""
	if at := micro(after.FirstSeen); !at.Before(begin) {
		begin, id = at, after.ID
	}
	var until *time.Time
	if !q.Until.IsZero() {
		at := micro(q.Until)
		until = &at
	}
	var events any
	if q.Events != nil {
		events = q.Events
	}
	return read(ctx, s.engine, "list items", scanItem, itemsByTime, q.Partition, begin, id, until, events, max(limit, 0))
}
