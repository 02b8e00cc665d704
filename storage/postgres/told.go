package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// The first ones that are not due are at most those of three minutes, see marks_of.
const untoldStories = `SELECT story_id, mark FROM untold WHERE due <= clock_timestamp() ORDER BY mark LIMIT $1`

// UntoldStories implements [storage.Stories].
func (s *Store) UntoldStories(ctx context.Context, limit int) ([]storage.Untold, error) {
	return read(ctx, s, "read marks of stories", pgx.RowToStructByPos[storage.Untold], untoldStories, max(limit, 0))
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
	forgetStories = `DELETE FROM stories WHERE id = ANY($1)`
	forgetMarks   = `DELETE FROM untold WHERE mark = ANY($1)`
)

// TellStories implements [storage.Stories].
func (s *Store) TellStories(ctx context.Context, fence storage.Fence, marks []storage.Untold, told []storage.Story, gone []string) error {
	// In order of ID, as all who lock several rows of a table do.
	told = slices.SortedStableFunc(slices.Values(told), func(a, b storage.Story) int { return cmp.Compare(a.ID, b.ID) })
	return s.change(ctx, "tell stories", func(ctx context.Context, tx pgx.Tx) error {
		if err := shareFence(ctx, tx, fence); err != nil {
			return err
		}
		telling := &pgx.Batch{}
		for _, story := range told {
			telling.Queue(putStory, clean(storyValues(story)...)...)
		}
		telling.Queue(forgetStories, clean(gone)...)
		telling.Queue(forgetMarks, column(marks, func(u storage.Untold) int64 { return u.Mark }))
		return tx.SendBatch(ctx, telling).Close()
	})
}

// storyValues returns the arguments of putStory.
func storyValues(s storage.Story) []any {
	return []any{s.ID, s.Lane, s.Headline, s.Title, linesOrNull(s.Summary), s.Items, s.Events, s.Sources,
		s.FirstSeen, s.LastSeen, listOrNull(s.Categories), listOrNull(s.Topics), s.Heat, s.Clicks, s.Burst, s.Rank, s.Told,
		slices.Concat(under("lane", s.Lane), under("category", s.Categories...), under("topic", s.Topics...))}
}

// under returns the names as stories are listed under them. The empty one is none.
func under(what string, names ...string) []string {
	listed := []string{}
	for _, name := range names {
		if name != "" {
			listed = append(listed, what+":"+name)
		}
	}
	return listed
}

func scanStory(row pgx.CollectableRow) (s storage.Story, err error) {
	err = row.Scan(&s.ID, &s.Lane, &s.Headline, &s.Title, &s.Summary, &s.Items, &s.Events, &s.Sources,
		moment{&s.FirstSeen}, moment{&s.LastSeen}, &s.Categories, &s.Topics, &s.Heat, &s.Clicks, &s.Burst, &s.Rank, moment{&s.Told})
	return s, err
}

const storyByID = `SELECT ` + storyColumns + ` FROM stories WHERE id = $1`

// Story implements [storage.Stories].
func (s *Store) Story(ctx context.Context, id string) (story storage.Story, err error) {
	err = s.do(ctx, "read story", func(ctx context.Context) (err error) {
		story, err = one(ctx, s.pool, scanStory, storyByID, id)
		return err
	})
	return story, err
}

const storiesByID = `SELECT ` + storyColumns + ` FROM stories WHERE id = ANY($1)`

// ToldStories implements [storage.Stories].
func (s *Store) ToldStories(ctx context.Context, ids ...string) (map[string]storage.Story, error) {
	stories, err := read(ctx, s, "read stories", scanStory, storiesByID, cleanTexts(ids))
	if err != nil {
		return nil, err
	}
	told := make(map[string]storage.Story, len(stories))
	for _, story := range stories {
		told[story.ID] = story
	}
	return told, nil
}

const (
	// Conditions of which the first half holds are none to the planner, which knows
	// the values. $6 is NULL for the first page.
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
func (s *Store) ListStories(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	statement, args, err := toList(q)
	if err != nil {
		return nil, "", err
	}
	page, err = read(ctx, s, "list stories", scanStory, statement, args...)
	if err != nil {
		return nil, "", err
	}
	page, next = q.Cut(page)
	return page, next, nil
}

// toList returns the statement that lists what the query asks for, one story more
// than a page has.
func toList(q storage.StoryQuery) (statement string, args []any, err error) {
	place, err := q.Place()
	if err != nil {
		return "", nil, err
	}
	statement, args = storiesByRank, []any{q.PageSize() + 1,
		slices.Concat(under("lane", q.Lane), under("category", q.Category), under("topic", q.Topic)),
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
