package sqlite

import (
	"context"
	"slices"

	"feedmesh/storage"
)

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
