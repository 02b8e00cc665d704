package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// Records that are not due yet were added in the last three minutes, see marks_of, so the scan skips few.
const dirtyStories = `SELECT story_id, mark FROM untold WHERE due <= clock_timestamp() ORDER BY mark LIMIT $1`

// DirtyStories implements [storage.Stories].
func (s storyStore) DirtyStories(ctx context.Context, limit int) ([]storage.DirtyStory, error) {
	return read(ctx, s.engine, "list dirty stories", pgx.RowToStructByPos[storage.DirtyStory], dirtyStories, max(limit, 0))
}

const storyColumns = `id, lane, headline, title, summary, items, events, sources, first_seen, last_seen, categories, topics,
	heat, clicks, burst, rank, told`

const (
	putStory = `
		INSERT INTO stories (` + storyColumns + `, listed_under)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (id) DO UPDATE SET
			lane = excluded.lane, headline = excluded.headline, title = excluded.title, summary = excluded.summary,
			items = excluded.items, events = excluded.events, sources = excluded.sources,
			first_seen = excluded.first_seen, last_seen = excluded.last_seen,
			categories = excluded.categories, topics = excluded.topics, heat = excluded.heat, clicks = excluded.clicks,
			burst = excluded.burst, rank = excluded.rank, told = excluded.told, listed_under = excluded.listed_under`
	deleteStories      = `DELETE FROM stories WHERE id = ANY($1)`
	deleteDirtyStories = `DELETE FROM untold WHERE mark = ANY($1)`
)

// PutStories implements [storage.Stories].
func (s storyStore) PutStories(ctx context.Context, fence storage.Fence, dirty []storage.DirtyStory, summaries []storage.Story, gone []string) error {
	// In order of ID, as in all transactions that lock several rows of a table.
	summaries = slices.SortedStableFunc(slices.Values(summaries), func(a, b storage.Story) int { return cmp.Compare(a.ID, b.ID) })
	return s.transaction(ctx, "put stories", func(ctx context.Context, tx pgx.Tx) error {
		if err := lockFenceShared(ctx, tx, fence); err != nil {
			return err
		}
		statements := &pgx.Batch{}
		for _, story := range summaries {
			statements.Queue(putStory, clean(storyValues(story)...)...)
		}
		statements.Queue(deleteStories, clean(gone)...)
		statements.Queue(deleteDirtyStories, column(dirty, func(u storage.DirtyStory) int64 { return u.Number }))
		return tx.SendBatch(ctx, statements).Close()
	})
}

// storyValues returns the arguments of putStory.
func storyValues(s storage.Story) []any {
	return []any{s.ID, s.Partition, s.Headline, s.Title, listOrNull(s.Summary), s.Items, s.Events, s.Sources,
		s.FirstSeen, s.LastSeen, listOrNull(s.Categories), listOrNull(s.Topics), s.HotScore, s.Clicks, s.Burst, s.Rank, s.Summarized,
		slices.Concat(indexKeys("lane", s.Partition), indexKeys("category", s.Categories...), indexKeys("topic", s.Topics...))}
}

// indexKeys returns the keys under which stories are indexed. It skips the empty name.
func indexKeys(what string, names ...string) []string {
	listed := []string{}
	for _, name := range names {
		if name != "" {
			listed = append(listed, what+":"+name)
		}
	}
	return listed
}

func scanStory(row pgx.CollectableRow) (s storage.Story, err error) {
	err = row.Scan(&s.ID, &s.Partition, &s.Headline, &s.Title, &s.Summary, &s.Items, &s.Events, &s.Sources,
		nullTime{&s.FirstSeen}, nullTime{&s.LastSeen}, &s.Categories, &s.Topics, &s.HotScore, &s.Clicks, &s.Burst, &s.Rank, nullTime{&s.Summarized})
	return s, err
}

const storiesByID = `SELECT ` + storyColumns + ` FROM stories WHERE id = ANY($1)`

// StoriesByID implements [storage.Stories].
func (s storyStore) StoriesByID(ctx context.Context, ids ...string) (map[string]storage.Story, error) {
	stories, err := read(ctx, s.engine, "read stories", scanStory, storiesByID, cleanTexts(ids))
	if err != nil {
		return nil, err
	}
	summaries := make(map[string]storage.Story, len(stories))
	for _, story := range stories {
		summaries[story.ID] = story
	}
	return summaries, nil
}

const (
	// The planner drops conditions whose first half is true, because the values are constants. $6 is NULL for the
	// first page.
	listedStories = `
		SELECT ` + storyColumns + ` FROM stories
		WHERE ($2::text[] = '{}' OR listed_under @> $2) AND sources >= $3
			AND ($4::timestamptz IS NULL OR last_seen >= $4) AND ($5::timestamptz IS NULL OR first_seen < $5)`
	storiesByRank = listedStories + `
			AND ($6::float8 IS NULL OR rank <= $6 AND (rank < $6 OR id > $7))
		ORDER BY rank DESC, id LIMIT $1`
	newestStories = listedStories + `
			AND ($6::timestamptz IS NULL OR last_seen <= $6 AND (last_seen < $6 OR id > $7))
		ORDER BY last_seen DESC, id LIMIT $1`
)

// ListStories implements [storage.Stories].
func (s storyStore) ListStories(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	statement, args, err := listStatement(q)
	if err != nil {
		return nil, "", err
	}
	page, err = read(ctx, s.engine, "list stories", scanStory, statement, args...)
	if err != nil {
		return nil, "", err
	}
	page, next = q.SplitPage(page)
	return page, next, nil
}

// listStatement returns the statement of a query. Its limit is one story more than a page.
func listStatement(q storage.StoryQuery) (statement string, args []any, err error) {
	place, err := q.Position()
	if err != nil {
		return "", nil, err
	}
	statement, args = storiesByRank, []any{q.PageSize() + 1,
		slices.Concat(indexKeys("lane", q.Partition), indexKeys("category", q.Category), indexKeys("topic", q.Topic)),
		q.Sources, timeOrNull(q.After), timeOrNull(q.Before), nil, ""}
	if q.Newest {
		statement = newestStories
	}
	switch {
	case place == nil:
	case q.Newest:
		args[5], args[6] = place.LastSeen, place.ID
	default:
		args[5], args[6] = place.Rank, place.ID
	}
	return statement, args, nil
}
