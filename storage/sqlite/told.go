package sqlite

import (
	"context"
	"math"
	"slices"

	"feedmesh/storage"
)

const (
	storyColumns = `id, lane, headline, title, summary, items, events, sources, first_seen, last_seen, categories, topics, heat,
		clicks, burst, rank, told`
	storyByID = `SELECT ` + storyColumns + ` FROM stories WHERE id = ?`
)

func scanStory(row scanner) (s storage.Story, err error) {
	err = row.Scan(&s.ID, &s.Lane, &s.Headline, &s.Title, fromJSON(&s.Summary), &s.Items, &s.Events, &s.Sources,
		moment{&s.FirstSeen}, moment{&s.LastSeen}, fromJSON(&s.Categories), fromJSON(&s.Topics), &s.Heat,
		&s.Clicks, &s.Burst, &s.Rank, moment{&s.Told})
	return s, err
}

// Story implements [storage.Stories].
func (s *Store) Story(ctx context.Context, id string) (storage.Story, error) {
	story, err := scanStory(s.read.story.QueryRowContext(ctx, id))
	return story, s.failed(ctx, "read story", err)
}

var storiesByID = `SELECT ` + storyColumns + ` FROM stories WHERE id IN (` + marks + `)`

// ToldStories implements [storage.Stories].
func (s *Store) ToldStories(ctx context.Context, ids ...string) (map[string]storage.Story, error) {
	told := map[string]storage.Story{}
	for some := range slices.Chunk(ids, chunk) {
		stories, err := collect(ctx, s.read.someStories, scanStory, chunkArgs(some)...)
		if err != nil {
			return nil, s.failed(ctx, "read stories", err)
		}
		for _, story := range stories {
			told[story.ID] = story
		}
	}
	return told, nil
}

const (
	tellStory = `
		INSERT INTO stories (` + storyColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET lane = excluded.lane, headline = excluded.headline, title = excluded.title,
			summary = excluded.summary, items = excluded.items, events = excluded.events, sources = excluded.sources,
			first_seen = excluded.first_seen, last_seen = excluded.last_seen, categories = excluded.categories,
			topics = excluded.topics, heat = excluded.heat, clicks = excluded.clicks, burst = excluded.burst,
			rank = excluded.rank, told = excluded.told`
	forgetStories = `DELETE FROM stories WHERE id IN (SELECT value FROM json_each(?))`
	forgetMarks   = `DELETE FROM untold WHERE mark IN (SELECT value FROM json_each(?))`
)

// TellStories implements [storage.Stories].
func (s *Store) TellStories(ctx context.Context, fence storage.Fence, marks []storage.Untold, told []storage.Story, gone []string) error {
	numbers := make([]int64, len(marks))
	for i, mark := range marks {
		numbers[i] = mark.Mark
	}
	return s.change(ctx, "tell stories", func(w *writer) error {
		if err := w.checkFence(ctx, fence); err != nil {
			return err
		}
		for _, story := range told {
			if err := w.tell(ctx, story); err != nil {
				return err
			}
		}
		if len(gone) > 0 {
			if _, err := w.forgetStories.ExecContext(ctx, asJSON(gone)); err != nil {
				return err
			}
		}
		_, err := w.forgetMarks.ExecContext(ctx, asJSON(numbers))
		return err
	})
}

func (w *writer) tell(ctx context.Context, s storage.Story) error {
	_, err := w.tellStory.ExecContext(ctx, s.ID, s.Lane, s.Headline, s.Title, listOrNull(s.Summary), s.Items, s.Events, s.Sources,
		micros(s.FirstSeen), micros(s.LastSeen), listOrNull(s.Categories), listOrNull(s.Topics), s.Heat,
		s.Clicks, s.Burst, s.Rank, micros(s.Told))
	return err
}

// The word that a list of words must have is first sought as it is written there,
// which is quick, and then, where that is found, among the words.
const (
	storiesThatMatch = `
		(?4 = '' OR lane = ?4) AND sources >= ?5 AND last_seen >= ?6 AND first_seen < ?7
		AND (?8 = '' OR instr(categories, ?9) AND EXISTS (SELECT 1 FROM json_each(categories) WHERE value = ?8))
		AND (?10 = '' OR instr(topics, ?11) AND EXISTS (SELECT 1 FROM json_each(topics) WHERE value = ?10))`
	storiesByRank = `
		SELECT ` + storyColumns + ` FROM stories
		WHERE rank <= ?1 AND (rank < ?1 OR id > ?2) AND ` + storiesThatMatch + ` ORDER BY rank DESC, id LIMIT ?3`
	newestStories = `
		SELECT ` + storyColumns + ` FROM stories
		WHERE last_seen <= ?1 AND (last_seen < ?1 OR id > ?2) AND ` + storiesThatMatch + ` ORDER BY last_seen DESC, id LIMIT ?3`
)

// ListStories implements [storage.Stories].
func (s *Store) ListStories(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	after, err := q.Place()
	if err != nil {
		return nil, "", err
	}
	var from any = math.Inf(1)
	stmt, id := s.read.stories, ""
	if q.Newest {
		stmt, from = s.read.newestStories, int64(math.MaxInt64)
	}
	if after != nil {
		from, id = after.Rank, after.ID
		if q.Newest {
			from = micros(after.LastSeen)
		}
	}
	before := int64(math.MaxInt64)
	if !q.Before.IsZero() {
		before = micros(q.Before)
	}
	found, err := collect(ctx, stmt, scanStory, from, id, q.PageSize()+1, q.Lane, q.Sources, micros(q.After), before,
		q.Category, asJSON(q.Category), q.Topic, asJSON(q.Topic))
	if err != nil {
		return nil, "", s.failed(ctx, "list stories", err)
	}
	page, next = q.Cut(found)
	return page, next, nil
}
