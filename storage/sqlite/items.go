package sqlite

import (
	"context"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// chunk is how many keys or IDs one statement looks up.
const chunk = 20

// marks has a parameter for each of a chunk.
var marks = strings.TrimSuffix(strings.Repeat("?,", chunk), ",")

// chunkArgs returns the arguments of a statement with marks, for the first up to
// chunk words. The rest of the marks are NULL, which equals nothing.
func chunkArgs(words []string, before ...any) []any {
	args := make([]any, len(before)+chunk)
	copy(args, before)
	for i, word := range words {
		args[len(before)+i] = word
	}
	return args
}

var knownItems = `
	SELECT key, hash FROM items
	WHERE feed = (SELECT num FROM feeds WHERE id = ?) AND key IN (` + marks + `)`

// Known implements [storage.Items].
func (s *Store) Known(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	known := make(map[string]string, len(keys))
	for some := range slices.Chunk(keys, chunk) {
		pairs, err := collect(ctx, s.read.known, scanPair, chunkArgs(some, feedID)...)
		if err != nil {
			return nil, s.failed(ctx, "look up keys", err)
		}
		for _, p := range pairs {
			known[p[0]] = p[1]
		}
	}
	return known, nil
}

func scanPair(row scanner) (p [2]string, err error) {
	err = row.Scan(&p[0], &p[1])
	return p, err
}

// itemColumns are what itemFields expects, of items i and feeds f.
const itemColumns = columnsBefore + `i.html` + columnsAfter

// bareColumns are itemColumns without the HTML.
const bareColumns = columnsBefore + `''` + columnsAfter

const columnsBefore = `
	i.id, f.id, i.key, i.hash, i.revision, i.url, i.title, `

const columnsAfter = `, i.excerpt, i.author, i.language,
	i.images, i.tags, i.published, i.assumed, i.updated, i.first_seen,
	coalesce(i.changed, i.first_seen), i.spam, i.spam_score, i.flags, i.categories, i.topics, i.why, i.score, i.sentiment, i.corrected,
	i.lane, i.text_hash, i.event_id, i.story_id, i.story_why,
	i.duplicate_of, i.duplicate_by, i.duplicate_score, i.duplicate_why, i.clicks,
	i.enclosures, i.comments, i.source`

const selectItems = `SELECT ` + itemColumns + ` FROM items i JOIN feeds f ON f.num = i.feed`

// itemFields returns where itemColumns are scanned to.
func itemFields(i *storage.Item) []any {
	return []any{&i.ID, &i.FeedID, &i.Key, &i.Hash, &i.Revision, &i.URL, &i.Title, &i.HTML, &i.Excerpt, &i.Author, &i.Language,
		fromJSON(&i.Images), fromJSON(&i.Tags), moment{&i.Published}, &i.Assumed, moment{&i.Updated}, moment{&i.FirstSeen},
		moment{&i.Changed}, &i.Spam, &i.SpamScore, fromJSON(&i.Flags), fromJSON(&i.Categories), fromJSON(&i.Topics), fromJSON(&i.Why),
		&i.Score, &i.Sentiment, &i.Corrected,
		&i.Lane, &i.TextHash, &i.EventID, &i.StoryID, &i.StoryWhy,
		&i.DuplicateOf, &i.DuplicateBy, &i.DuplicateScore, &i.DuplicateWhy, &i.Clicks,
		fromJSON(&i.Enclosures), &i.Comments, &i.Source}
}

func scanItem(row scanner) (i storage.Item, err error) {
	err = row.Scan(itemFields(&i)...)
	return i, err
}

var itemsByID = selectItems + ` WHERE i.id IN (` + marks + `)`

// Item implements [storage.Items].
func (s *Store) Item(ctx context.Context, id string) (storage.Item, error) {
	return storage.First(s.Items(ctx, id))
}

// Items implements [storage.Items].
func (s *Store) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	var found []storage.Item
	for some := range slices.Chunk(ids, chunk) {
		items, err := collect(ctx, s.read.items, scanItem, chunkArgs(some)...)
		if err != nil {
			return nil, s.failed(ctx, "read items", err)
		}
		found = append(found, items...)
	}
	return storage.InOrder(found, ids), nil
}

const itemsSince = selectItems + `
	WHERE i.lane = ? AND (i.first_seen, i.id) > (?, ?)
	ORDER BY i.first_seen, i.id LIMIT ?`

// ItemsSince implements [storage.Items].
func (s *Store) ItemsSince(ctx context.Context, lane string, since time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	from, id := micros(since), ""
	if at := micros(after.FirstSeen); at >= from {
		from, id = at, after.ID
	}
	items, err := collect(ctx, s.read.since, scanItem, lane, from, id, max(limit, 0))
	return items, s.failed(ctx, "read a lane", err)
}
