package sqlite

import (
	"context"
	"slices"

	"feedmesh/storage"
)

// several says whether the story of an item i has several items. It reads no item.
const several = `i.story_id <> '' AND EXISTS (SELECT 1 FROM items WHERE story_id = i.story_id LIMIT 1 OFFSET 1)`

// What changes an item marks its story by one of these, in the same transaction:
// before the item leaves a story, and after it came to one. No trigger does it:
// each that a table has makes a copy of every row that is put.
const (
	markStories = `
		INSERT INTO untold (story_id)
		SELECT i.story_id FROM (SELECT value AS story_id FROM json_each(?)) i WHERE ` + several
	markItem   = `INSERT INTO untold (story_id) SELECT i.story_id FROM items i WHERE i.id = ? AND ` + several
	markOfFeed = `
		INSERT INTO untold (story_id)
		SELECT DISTINCT i.story_id FROM items i WHERE i.feed = (SELECT num FROM feeds WHERE id = ?) AND ` + several
)

// markAll marks those of the stories that have several items.
func (w *writer) markAll(ctx context.Context, stories []string) error {
	if len(stories) == 0 {
		return nil
	}
	slices.Sort(stories)
	_, err := w.markStories.ExecContext(ctx, asJSON(slices.Compact(stories)))
	return err
}

// mark marks the story of an item if that has several.
func (w *writer) mark(ctx context.Context, itemID string) error {
	_, err := w.markItem.ExecContext(ctx, itemID)
	return err
}

const oldestMarks = `SELECT story_id, mark FROM untold ORDER BY mark LIMIT ?`

// UntoldStories implements [storage.Stories].
func (s *Store) UntoldStories(ctx context.Context, limit int) ([]storage.Untold, error) {
	marks, err := collect(ctx, s.read.untold, func(row scanner) (mark storage.Untold, err error) {
		err = row.Scan(&mark.StoryID, &mark.Mark)
		return mark, err
	}, max(limit, 0))
	return marks, s.failed(ctx, "list marks of stories", err)
}
