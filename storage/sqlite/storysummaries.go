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
)

func scanStory(row scanner) (s storage.Story, err error) {
	err = row.Scan(&s.ID, &s.Partition, &s.Headline, &s.Title, fromJSON(&s.Summary), &s.Items, &s.Events, &s.Sources,
		nullTime{&s.FirstSeen}, nullTime{&s.LastSeen}, fromJSON(&s.Categories), fromJSON(&s.Topics), &s.HotScore,
		&s.Clicks, &s.Burst, &s.Rank, nullTime{&s.Summarized})
	return s, err
}

var storiesByID = `SELECT ` + storyColumns + ` FROM stories WHERE id IN (` + placeholders + `)`

// StoriesByID implements [storage.Stories].
func (s storyStore) StoriesByID(ctx context.Context, ids ...string) (map[string]storage.Story, error) {
	byID := map[string]storage.Story{}
	for batch := range slices.Chunk(ids, chunkSize) {
		stories, err := collect(ctx, s.read, storiesByID, scanStory, chunkArgs(batch)...)
		if err != nil {
			return nil, s.wrap(ctx, "read stories", err)
		}
		for _, story := range stories {
			byID[story.ID] = story
		}
	}
	return byID, nil
}

const (
	putStory = `
		INSERT INTO stories (` + storyColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET lane = excluded.lane, headline = excluded.headline, title = excluded.title,
			summary = excluded.summary, items = excluded.items, events = excluded.events, sources = excluded.sources,
			first_seen = excluded.first_seen, last_seen = excluded.last_seen, categories = excluded.categories,
			topics = excluded.topics, heat = excluded.heat, clicks = excluded.clicks, burst = excluded.burst,
			rank = excluded.rank, told = excluded.told`
	deleteStories      = `DELETE FROM stories WHERE id IN (SELECT value FROM json_each(?))`
	deleteDirtyStories = `DELETE FROM untold WHERE mark IN (SELECT value FROM json_each(?))`
)

// PutStories implements [storage.Stories].
func (s storyStore) PutStories(ctx context.Context, fence storage.Fence, dirty []storage.DirtyStory, stories []storage.Story, gone []string) error {
	numbers := make([]int64, len(dirty))
	for i, record := range dirty {
		numbers[i] = record.Number
	}
	return s.transaction(ctx, "put stories", func(w *writer) error {
		if err := checkFence(ctx, w, fence); err != nil {
			return err
		}
		for _, story := range stories {
			if err := putSummary(ctx, w, story); err != nil {
				return err
			}
		}
		if len(gone) > 0 {
			if _, err := w.exec(ctx, deleteStories, asJSON(gone)); err != nil {
				return err
			}
		}
		_, err := w.exec(ctx, deleteDirtyStories, asJSON(numbers))
		return err
	})
}

func putSummary(ctx context.Context, w *writer, s storage.Story) error {
	_, err := w.exec(ctx, putStory, s.ID, s.Partition, s.Headline, s.Title, listOrNull(s.Summary), s.Items, s.Events, s.Sources,
		micros(s.FirstSeen), micros(s.LastSeen), listOrNull(s.Categories), listOrNull(s.Topics), s.HotScore,
		s.Clicks, s.Burst, s.Rank, micros(s.Summarized))
	return err
}

// The exact match in the JSON array is expensive, so instr first searches the array's text.
const (
	storyConditions = `
		(?4 = '' OR lane = ?4) AND sources >= ?5 AND last_seen >= ?6 AND first_seen < ?7
		AND (?8 = '' OR instr(categories, ?9) AND EXISTS (SELECT 1 FROM json_each(categories) WHERE value = ?8))
		AND (?10 = '' OR instr(topics, ?11) AND EXISTS (SELECT 1 FROM json_each(topics) WHERE value = ?10))`
	storiesByRank = `
		SELECT ` + storyColumns + ` FROM stories
		WHERE rank <= ?1 AND (rank < ?1 OR id > ?2) AND ` + storyConditions + ` ORDER BY rank DESC, id LIMIT ?3`
	newestStories = `
		SELECT ` + storyColumns + ` FROM stories
		WHERE last_seen <= ?1 AND (last_seen < ?1 OR id > ?2) AND ` + storyConditions + ` ORDER BY last_seen DESC, id LIMIT ?3`
)

// ListStories implements [storage.Stories].
func (s storyStore) ListStories(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	after, err := q.Position()
	if err != nil {
		return nil, "", err
	}
	var from any = math.Inf(1)
	stmt, id := storiesByRank, ""
	if q.Newest {
		stmt, from = newestStories, int64(math.MaxInt64)
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
	found, err := collect(ctx, s.read, stmt, scanStory, from, id, q.PageSize()+1, q.Partition, q.Sources, micros(q.After), before,
		q.Category, asJSON(q.Category), q.Topic, asJSON(q.Topic))
	if err != nil {
		return nil, "", s.wrap(ctx, "list stories", err)
	}
	page, next = q.SplitPage(found)
	return page, next, nil
}

// hasSeveralItems is true if the story of an item i contains several items. It reads no item.
const hasSeveralItems = `i.story_id <> '' AND EXISTS (SELECT 1 FROM items WHERE story_id = i.story_id LIMIT 1 OFFSET 1)`

// Every change to an item marks its story dirty with one of these statements, in the same transaction: before
// the item leaves a story, and after it joins one. A trigger would do the same, but SQLite copies every
// written row of a table with triggers.
const (
	addDirtyStories = `
		INSERT INTO untold (story_id)
		SELECT i.story_id FROM (SELECT value AS story_id FROM json_each(?)) i WHERE ` + hasSeveralItems
	addDirtyStoryOfItem   = `INSERT INTO untold (story_id) SELECT i.story_id FROM items i WHERE i.id = ? AND ` + hasSeveralItems
	addDirtyStoriesOfFeed = `
		INSERT INTO untold (story_id)
		SELECT DISTINCT i.story_id FROM items i WHERE i.feed = (SELECT num FROM feeds WHERE id = ?) AND ` + hasSeveralItems
)

// markStoriesDirty marks the stories with several items dirty.
func markStoriesDirty(ctx context.Context, w *writer, stories []string) error {
	if len(stories) == 0 {
		return nil
	}
	slices.Sort(stories)
	_, err := w.exec(ctx, addDirtyStories, asJSON(slices.Compact(stories)))
	return err
}

// markStoryOfItemDirty marks the item's story dirty if it contains several items.
func markStoryOfItemDirty(ctx context.Context, w *writer, itemID string) error {
	_, err := w.exec(ctx, addDirtyStoryOfItem, itemID)
	return err
}

const oldestDirtyStories = `SELECT story_id, mark FROM untold ORDER BY mark LIMIT ?`

// DirtyStories implements [storage.Stories].
func (s storyStore) DirtyStories(ctx context.Context, limit int) ([]storage.DirtyStory, error) {
	return read(ctx, s.engine, "list dirty stories", oldestDirtyStories, func(row scanner) (record storage.DirtyStory, err error) {
		err = row.Scan(&record.StoryID, &record.Number)
		return record, err
	}, max(limit, 0))
}
