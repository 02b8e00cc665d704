package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const knownItems = `SELECT id, hash FROM items WHERE id = ANY($1)`

// Known implements [storage.Items].
func (s *Store) Known(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	ids := make([]string, len(keys))
	keyOf := make(map[string]string, len(keys))
	for i, key := range keys {
		ids[i] = storage.ItemID(feedID, key)
		keyOf[ids[i]] = key
	}
	known := make(map[string]string, len(keys))
	_, err := read(ctx, s, "look up keys", func(row pgx.CollectableRow) (id string, err error) {
		var hash string
		err = row.Scan(&id, &hash)
		known[keyOf[id]] = hash
		return id, err
	}, knownItems, ids)
	if err != nil {
		return nil, err
	}
	return known, nil
}

// leanFields are the columns that leanFieldsOf expects, of items i and feeds f: all
// but the HTML.
const leanFields = `
	i.id, f.id, i.key, i.hash, i.revision, i.url, i.title, i.excerpt, i.author, i.language,
	i.images, i.tags, i.published, i.assumed, i.updated, i.first_seen, i.changed,
	i.spam, i.spam_score, i.flags, i.categories, i.topics, i.why, i.score, i.sentiment, i.corrected,
	i.lane, i.text_hash, i.event_id, i.story_id, i.story_why,
	i.duplicate_of, i.duplicate_by, i.duplicate_score, i.duplicate_why, i.clicks,
	i.enclosures, i.comments, i.source`

// itemFields are the columns that fieldsOf expects.
const itemFields = leanFields + `, i.html`

const (
	fromItems   = ` FROM items i JOIN feeds f ON f.num = i.feed`
	selectItems = `SELECT ` + itemFields + fromItems
	selectLean  = `SELECT ` + leanFields + fromItems
)

// leanFieldsOf returns where leanFields are scanned to.
func leanFieldsOf(i *storage.Item) []any {
	return []any{&i.ID, &i.FeedID, &i.Key, &i.Hash, &i.Revision, &i.URL, &i.Title, &i.Excerpt, &i.Author, &i.Language,
		&i.Images, &i.Tags, moment{&i.Published}, &i.Assumed, moment{&i.Updated}, moment{&i.FirstSeen}, moment{&i.Changed},
		&i.Spam, &i.SpamScore, &i.Flags, &i.Categories, &i.Topics, &i.Why, &i.Score, &i.Sentiment, &i.Corrected,
		&i.Lane, &i.TextHash, &i.EventID, &i.StoryID, &i.StoryWhy,
		&i.DuplicateOf, &i.DuplicateBy, &i.DuplicateScore, &i.DuplicateWhy, &i.Clicks,
		&i.Enclosures, &i.Comments, &i.Source}
}

// fieldsOf returns where itemFields are scanned to.
func fieldsOf(i *storage.Item) []any { return append(leanFieldsOf(i), &i.HTML) }

func scanItem(row pgx.CollectableRow) (i storage.Item, err error) {
	err = row.Scan(fieldsOf(&i)...)
	return i, err
}

func scanLean(row pgx.CollectableRow) (i storage.Item, err error) {
	err = row.Scan(leanFieldsOf(&i)...)
	return i, err
}

const itemsByID = selectItems + ` WHERE i.id = ANY($1)`

// Item implements [storage.Items].
func (s *Store) Item(ctx context.Context, id string) (storage.Item, error) {
	return storage.First(s.Items(ctx, id))
}

// Items implements [storage.Items].
func (s *Store) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	found, err := read(ctx, s, "read items", scanItem, itemsByID, ids)
	if err != nil {
		return nil, err
	}
	return storage.InOrder(found, ids), nil
}

const itemsSince = selectItems + `
	WHERE i.lane = $1 AND (i.first_seen, i.id) > ($2, $3)
	ORDER BY i.first_seen, i.id LIMIT $4`

// ItemsSince implements [storage.Items].
func (s *Store) ItemsSince(ctx context.Context, lane string, since time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	from, id := micro(since), ""
	if at := micro(after.FirstSeen); !at.Before(from) {
		from, id = at, after.ID
	}
	return read(ctx, s, "read a lane", scanItem, itemsSince, lane, from, id, max(limit, 0))
}
